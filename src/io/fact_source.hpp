#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/directive_parameters.hpp"
#include "io/facts_reader.hpp"
#include "io/files/byte_buffer.hpp"
#include "io/files/byte_source.hpp"
#include "io/files/compression.hpp"

namespace gpulog::io {

/// What an .input directive reads: a file, or standard input.
class fact_source {
 public:
  /// The file of the parameter filename, else of the relation with this extension. Nothing when it does not exist and
  /// need not. @throws user_error
  static std::optional<fact_source> open_file(const read_request& request, std::string_view extension);
  /// The same of a text, whose size is told to the request's on_size.
  static std::optional<fact_source> open_text_file(const read_request& request, std::string_view extension);
  static fact_source standard_input() { return {file_descriptor(0), "standard input"}; }

  /// For messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Whether it has a size and nobody has read of it. An earlier directive may have read from standard input.
  [[nodiscard]] bool is_whole_file() const { return size_ > 0; }
  [[nodiscard]] bool compressed() const { return compression_of(first_bytes_) != compression::none; }

  /// Of UTF-8.
  [[nodiscard]] bool begins_with_mark() const { return first_bytes_.starts_with("\xEF\xBB\xBF"); }

  /// Of a whole file: its bytes, or an estimate of those that were compressed; else 0.
  [[nodiscard]] std::uint64_t text_bytes() const {
    constexpr std::uint64_t usual_ratio = 4;
    return compressed() ? size_ * usual_ratio : size_;
  }

  /// The bytes of a whole file. @throws read_failure
  [[nodiscard]] std::unique_ptr<mapped_file> map() const;
  /// The bytes one after the other, decompressed where they were compressed. The source itself is used up.
  [[nodiscard]] std::unique_ptr<byte_source> stream();
  /// All of stream(). @throws read_failure, backend::memory_exceeded
  [[nodiscard]] byte_buffer read_all(backend::memory_resource& memory);

  /// @throws user_error that says where, in the first line of what is wrong
  [[noreturn]] static void refuse(const std::string& what, const std::string& source_name);

 private:
  fact_source(file_descriptor descriptor, std::string name);

  std::filesystem::path path_;
  prefetched_files* ahead_ = nullptr;
  file_descriptor descriptor_;
  std::string name_;
  std::string first_bytes_;
  std::size_t size_ = 0;
};

}  // namespace gpulog::io
