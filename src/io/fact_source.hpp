#pragma once

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

/// The source of an .input directive: a file, or standard input.
class fact_source {
 public:
  /// Opens the file of the parameter filename, else <relation><extension>. Returns nothing for a missing file that the
  /// request takes as empty. @throws user_error
  static std::optional<fact_source> open_file(const read_request& request, std::string_view extension);
  /// Opens a file of text and tells the request's on_size its size.
  static std::optional<fact_source> open_text_file(const read_request& request, std::string_view extension);
  static fact_source standard_input() { return {file_descriptor(0), "standard input"}; }

  /// Returns the name for messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Whether the source has a size and is unread. An earlier directive may have read from standard input.
  [[nodiscard]] bool is_whole_file() const { return size_ > 0; }
  [[nodiscard]] bool compressed() const { return compression_of(first_bytes_) != compression::none; }

  /// A UTF-8 byte order mark.
  [[nodiscard]] bool begins_with_mark() const { return first_bytes_.starts_with("\xEF\xBB\xBF"); }

  /// Bytes of a whole file, estimated for a compressed file; else 0.
  [[nodiscard]] std::uint64_t text_bytes() const {
    constexpr std::uint64_t usual_ratio = 4;
    return compressed() ? size_ * usual_ratio : size_;
  }

  /// Returns the bytes of a whole file.
  /// @throws read_failure
  [[nodiscard]] std::unique_ptr<mapped_file> map() const;
  /// The bytes in order, decompressed. Moves the descriptor out of the source.
  [[nodiscard]] std::unique_ptr<byte_source> stream();
  /// Reads all of stream().
  /// @throws read_failure, backend::memory_exceeded
  [[nodiscard]] byte_buffer read_all(backend::memory_resource& memory);

  /// @throws user_error with the name of the source in the first line of the message
  [[noreturn]] static void refuse(const std::string& what, const std::string& source_name);

 private:
  fact_source(file_descriptor descriptor, std::string name);

  file_descriptor descriptor_;
  std::string name_;
  std::string first_bytes_;
  std::size_t size_ = 0;
};

}  // namespace gpulog::io
