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

double share_done(const Progress& progress) {
  return static_cast<double>(progress.rows_done) /
         static_cast<double>(std::max<std::int64_t>(1, progress.rows_total));
}

// "network 2/5  epoch 12/30"
std::string place_text(const Progress& progress, int epoch) {
  const TrainOptions& options = *progress.options;
  // Averaged training seldom reaches its limit of epochs.
  const bool has_end = options.schedule != Schedule::averaged;
  const std::string text = progress.trees > 0 ? fmt::format("trees {}", progress.trees)
                           : has_end          ? fmt::format("epoch {}/{}", epoch, options.epochs)
                                              : fmt::format("epoch {}", epoch);
  if (options.ensemble == 1) return text;
  return fmt::format("network {}/{}  {}", progress.member, options.ensemble, text);
}

// The running epoch, or the one that just finished.
int current_epoch(const Progress& progress) {
  if (progress.epoch_finished) return progress.last.epoch;
  return std::min(progress.last.epoch + 1, progress.options->epochs.value());
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

// The speed of the last `fresh` items, and the remaining time.
std::string speed_text(double fresh, double left, double seconds, std::string_view things) {
  if (fresh <= 0 || seconds <= 0) return {};
  const double rate = fresh / seconds;
  return fmt::format("  {} {}/s  {} left", short_count(rate), things,
                     clock_text(std::max(0.0, left) / rate));
}

std::string bar_text(double share, std::size_t width) {
  const auto filled =
      static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] ";
}

// Moves from the end of the last line to the start of the first.
std::string back_to_first(std::size_t lines) {
  return lines > 1 ? fmt::format("\r\x1b[{}A", lines - 1) : "\r";
}

}  // namespace

std::string clock_text(double seconds) {
  const auto total = static_cast<long>(std::min(std::ceil(seconds), 359999.0));
  if (total < 3600) return fmt::format("{}:{:02}", total / 60, total % 60);
  return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
}

StatusLine::StatusLine(bool wanted) : on_(wanted && is_terminal()) {}

void StatusLine::draw(double share, std::string text, const std::vector<std::string>& above) {
  const std::size_t width = terminal_width();
  constexpr std::size_t kFrame = 4;  // brackets, a space, and the terminal's last column
  if (width >= text.size() + kFrame + kShortestBar)
    text.insert(0, bar_text(share, std::min(kLongestBar, width - text.size() - kFrame)));
  const std::lock_guard lock(mutex_);
  std::string drawing = back_to_first(lines_);
  for (const std::string& line : above) drawing += line.substr(0, width - 1) + "\x1b[K\n";
  drawing += text.substr(0, width - 1) + "\x1b[J";
  next_draw_ = Clock::now() + kRedraw;
  lines_ = above.size() + 1;
  std::fputs(drawing.c_str(), stderr);
}

bool StatusLine::due() const {
  const std::lock_guard lock(mutex_);
  return on_ && Clock::now() >= next_draw_;
}

void StatusLine::clear() {
  const std::lock_guard lock(mutex_);
  wipe();
}

void StatusLine::say(const std::string& line) {
  const std::lock_guard lock(mutex_);
  wipe();
  tell(line);
}

void StatusLine::wipe() {
  if (lines_ > 0) std::fputs((back_to_first(lines_) + "\x1b[J").c_str(), stderr);
  lines_ = 0;
}

ProgressBar::ProgressBar(Talk talk) : talk_(talk), line_(talk != Talk::quiet) {}

void ProgressBar::show(const Progress& progress) {
  if (!std::exchange(begun_, true) && talk_ != Talk::quiet && progress.rows_resumed > 0)
    say(resumed_text(progress));
  if (talk_ == Talk::verbose && progress.epoch_finished) {
    say(epoch_text(progress, progress.last.epoch, progress.last.train_loss));
  }
  if (!line_.due()) return;
  const std::string text = epoch_text(progress, current_epoch(progress), progress.loss);
  const auto fresh = static_cast<double>(progress.rows_done - progress.rows_resumed);
  const auto left = static_cast<double>(progress.rows_total - progress.rows_done);
  line_.draw(share_done(progress), text + speed_text(fresh, left, progress.seconds, "rows"));
}

CountBar::CountBar(std::string things, std::size_t total)
    : line_(true), things_(std::move(things)), total_(total) {}

void CountBar::show(std::size_t done) {
  if (!line_.due()) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
  const auto count = static_cast<double>(done), total = static_cast<double>(total_);
  line_.draw(count / total,
             fmt::format("{} of {} {}", short_count(count), short_count(total), things_) +
                 speed_text(count, total - count, seconds.count(), things_));
}

}  // namespace espalier
