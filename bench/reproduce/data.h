// SPDX-License-Identifier: Apache-2.0
// The rows behind the published tables: readers of the original files, cuts that stand in for data
// that was never published, and folds.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "espalier/table.h"

namespace espalier {

struct Data {
  Table train;  ///< validation rows are a share of it
  Table test;
  double valid_fraction = 0.2;
  /// The test error of a model that knows the truth, where the rows are simulated.
  double noise_floor = std::numeric_limits<double>::quiet_NaN();
};

enum class Scale { quick, full };

/// The bytes of a file. Throws Error (file) if it cannot be read or has none.
std::string read_text(const std::string& path);

/// Reads what a table needs from its files, given by their paths. `scale` is for simulated rows.
using ReadData = Data (*)(const std::vector<std::string>& paths, Scale scale);

/// Two CSV files, one to train and one to test.
Data read_pair(const std::vector<std::string>& paths, Scale scale);

/// adult.data and adult.test as UCI publishes them.
Data read_adult(const std::vector<std::string>& paths, Scale scale);

/// The same files: people from the United States to train, from other known countries to test.
Data read_adult_abroad(const std::vector<std::string>& paths, Scale scale);

/// Give Me Some Credit, cut to the sizes of the paper's Usefulness problem.
Data read_credit(const std::vector<std::string>& paths, Scale scale);

/// Simulated ratings in the sizes of the paper's Rater Score problem, or a twentieth of them.
Data make_ratings(const std::vector<std::string>& paths, Scale scale);

/// All rows dealt into `count` folds at random: each is the test rows once.
std::vector<Data> make_folds(const Data& data, int count, std::uint64_t seed);

}  // namespace espalier
