#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "io/facts_reader.hpp"
#include "support/error.hpp"

namespace gpulog::io {

inline constexpr auto number = value_kind::number;
inline constexpr auto unsigned_number = value_kind::unsigned_number;
inline constexpr auto floating = value_kind::floating;
inline constexpr auto symbol = value_kind::symbol;

/// A temporary folder, removed after the test.
class temporary_folder {
 public:
  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "gpulog-io-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ostringstream bytes;
    bytes << std::ifstream(path_ / name, std::ios::binary).rdbuf();
    return bytes.str();
  }
  [[nodiscard]] std::size_t file_count() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

using column_words = std::vector<std::vector<word>>;

/// A single .input directive and its result.
struct loading {
  explicit loading(std::vector<value_kind> kinds) {
    request.relation = "r";
    request.kinds = std::move(kinds);
    request.fact_directory = folder.path();
  }

  std::uint64_t run() {
    columns.assign(request.kinds.size(), {});
    return read_facts(request, symbols, [&](std::uint64_t rows) {
      std::vector<word*> pointers;
      for (auto& column : columns) {
        column.assign(rows, 0xdeadbeef);
        pointers.push_back(column.data());
      }
      return pointers;
    });
  }

  std::uint64_t run(const std::string& text) {
    folder.write("r.facts", text);
    return run();
  }

  /// Returns the first line of the error for a text.
  std::string error(const std::string& text) {
    const std::string whole = whole_error(text);
    return whole.substr(0, whole.find('\n'));
  }

  /// Returns the error for a text, with further lines.
  std::string whole_error(const std::string& text) {
    try {
      run(text);
    } catch (const user_error& problem) {
      return problem.what();
    }
    return "no error";
  }

  /// Returns the symbols of a column.
  [[nodiscard]] std::vector<std::string> texts(std::size_t column) const {
    std::vector<std::string> result;
    for (const word id : columns[column]) result.emplace_back(symbols.text(id));
    return result;
  }

  temporary_folder folder;
  read_request request;
  storage::symbol_table symbols;
  column_words columns;
};

}  // namespace gpulog::io
