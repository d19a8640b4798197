// SPDX-License-Identifier: Apache-2.0
// The files that a command reads and writes. A command must not overwrite its inputs.
#pragma once

#include <string>
#include <vector>

namespace espalier {

/// A path and its purpose: {"-o", "model.esp"}, {"the training data", "parts/"}.
struct NamedPath {
  std::string what;
  std::string path;  // empty: not given; "-" is standard input or output
};

/// All paths of a command. Standard output is an output of every command.
struct CommandFiles {
  std::vector<NamedPath> outputs = {};   // files
  std::vector<NamedPath> folders = {};   // the command writes into them and creates them if absent
  std::vector<NamedPath> inputs = {};    // files
  std::vector<NamedPath> datasets = {};  // paths of read_csv
};

/// Every command calls this before it writes. Folders, patterns and lists stand for all their
/// files, and links for their targets. Throws Error (file) for an output that cannot be written,
/// and Error (argument) for an output that is or would become an input, or is another output.
void check_files(const CommandFiles& files);

/// Whether two paths of read_csv have a common file.
bool share_files(const std::string& a, const std::string& b);

}  // namespace espalier
