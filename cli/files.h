// SPDX-License-Identifier: Apache-2.0
// What a command reads and writes, and the check that it overwrites nothing that it reads.
#pragma once

#include <string>
#include <vector>

namespace espalier {

/// A path, and what it is to the command: {"-o", "model.esp"}, {"the training data", "parts/"}.
struct NamedPath {
  std::string what;
  std::string path;  // empty: not given; "-" is standard input or output
};

/// All paths of a command. Standard output is an output of every command.
struct CommandFiles {
  std::vector<NamedPath> outputs = {};   // files
  std::vector<NamedPath> folders = {};   // that it writes into, and makes if they are absent
  std::vector<NamedPath> inputs = {};    // files
  std::vector<NamedPath> datasets = {};  // paths as read_csv takes them
};

/// Every command calls this before it writes anything. Folders, patterns and lists count as all
/// their files, and links as what they lead to. Throws Error (file) for an output that cannot be
/// written, and Error (argument) for one that is an input, would become one, or is another output.
void check_files(const CommandFiles& files);

/// Whether two paths of read_csv share a file.
bool share_files(const std::string& a, const std::string& b);

}  // namespace espalier
