// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "output.h"

namespace espalier {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr std::size_t kLongestBar = 30;
constexpr std::size_t kShortestBar = 5;

bool is_terminal() {
  const char* const term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// 950, 12k, 4.6M
std::string short_count(double count) {
  if (count >= 1e6) return fmt::format("{:.1f}M", count / 1e6);
  if (count >= 1e3) return fmt::format("{:.0f}k", count / 1e3);
  return fmt::format("{:.0f}", count);
}

std::string clock_text(double seconds) {
  const auto total = static_cast<long>(std::min(std::ceil(seconds), 359999.0));
  if (total < 3600) return fmt::format("{}:{:02}", total / 60, total % 60);
  return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
}

double share_done(const Progress& progress) {
  return static_cast<double>(progress.rows_done) /
         static_cast<double>(std::max<std::int64_t>(1, progress.rows_total));
}

// "network 2/5  epoch 12/30"
std::string place_text(const Progress& progress, int epoch) {
  const TrainOptions& options = *progress.options;
  const std::string text = fmt::format("epoch {}/{}", epoch, options.epochs);
  if (options.ensemble == 1) return text;
  return fmt::format("network {}/{}  {}", progress.member, options.ensemble, text);
}

// The epoch that is running, or the one that has just finished.
int current_epoch(const Progress& progress) {
  if (progress.epoch_finished) return progress.last.epoch;
  return std::min(progress.last.epoch + 1, progress.options->epochs);
}

std::string resumed_text(const Progress& progress) {
  return fmt::format("espalier: resuming  {}  {:.1f} % of all rows done",
                     place_text(progress, current_epoch(progress)), 100 * share_done(progress));
}

// "network 2/5  epoch 12/30  loss 0.3214  log_loss 0.3307"
std::string epoch_text(const Progress& progress, int epoch, double loss) {
  std::string text = fmt::format("{}  loss {:#.4g}", place_text(progress, epoch), loss);
  if (progress.last.epoch > 0 && !std::isnan(progress.last.valid_metric)) {
    text += fmt::format("  {} {:#.4g}", to_word(progress.metric), progress.last.valid_metric);
  }
  return text;
}

std::string speed_text(const Progress& progress) {
  const std::int64_t fresh = progress.rows_done - progress.rows_resumed;
  if (fresh <= 0 || progress.seconds <= 0) return {};
  const double rate = static_cast<double>(fresh) / progress.seconds;
  const auto left =
      static_cast<double>(std::max<std::int64_t>(0, progress.rows_total - progress.rows_done));
  return fmt::format("  {} rows/s  {} left", short_count(rate), clock_text(left / rate));
}

std::string bar_text(double share, std::size_t width) {
  const auto filled =
      static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] ";
}

// One line of less than `width` characters; where space is short, the bar goes first.
std::string whole_line(const Progress& progress, std::size_t width) {
  std::string text =
      epoch_text(progress, current_epoch(progress), progress.loss) + speed_text(progress);
  constexpr std::size_t kFrame = 4;  // brackets, a space, and the terminal's last column
  if (width >= text.size() + kFrame + kShortestBar) {
    text.insert(
        0, bar_text(share_done(progress), std::min(kLongestBar, width - text.size() - kFrame)));
  }
  return text.substr(0, width - 1);
}

}  // namespace

ProgressBar::ProgressBar(Talk talk) : talk_(talk), bar_(talk != Talk::quiet && is_terminal()) {}

void ProgressBar::show(const Progress& progress) {
  if (!std::exchange(begun_, true) && talk_ != Talk::quiet && progress.rows_resumed > 0)
    say(resumed_text(progress));
  if (talk_ == Talk::verbose && progress.epoch_finished) {
    say(epoch_text(progress, progress.last.epoch, progress.last.train_loss));
  }
  if (!bar_ || Clock::now() < next_draw_) return;
  next_draw_ = Clock::now() + kRedraw;
  drawn_ = true;
  std::fputs(fmt::format("\r{}\x1b[K", whole_line(progress, terminal_width())).c_str(), stderr);
}

void ProgressBar::say(const std::string& line) {
  clear();
  tell(line);
}

void ProgressBar::clear() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

}  // namespace espalier
