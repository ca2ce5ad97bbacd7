#include "io/fact_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "support/error.hpp"

namespace gpulog::io {
namespace {

[[noreturn]] void refuse_to_open(const std::string& name, int reason) {
  throw user_error(fmt::format("Cannot open {}: {}", name, std::strerror(reason)));
}

/// Names the whole path of a missing file, and a file with a similar name if the folder has one.
[[noreturn]] void refuse_missing(const std::string& name, const std::filesystem::path& path) {
  std::error_code unknown;
  const std::filesystem::path whole = std::filesystem::absolute(path, unknown).lexically_normal();
  std::string text = fmt::format("Cannot open fact file {}: there is no {}", name, whole.string());
  const std::filesystem::path folder = whole.parent_path();
  if (!std::filesystem::is_directory(folder, unknown)) {
    throw user_error(text + fmt::format("; there is no folder {} either", folder.string()));
  }
  for (const char* const extension :
       {".facts.gz", ".facts.zst", ".csv", ".tsv", ".txt", ".csv.gz", ".csv.zst", ".json", ".parquet"}) {
    std::filesystem::path other = whole;
    other.replace_extension(extension);
    if (other == whole || !std::filesystem::exists(other, unknown)) continue;
    throw user_error(text + fmt::format(", but there is {}: filename=\"{}\" reads it", other.filename().string(),
                                        other.filename().string()));
  }
  throw user_error(text);
}

}  // namespace

std::optional<fact_source> fact_source::open_file(const read_request& request, std::string_view extension) {
  const std::string name =
      directive_parameters(request.parameters).text("filename", fmt::format("{}{}", request.relation, extension));
  const std::filesystem::path path = request.fact_directory / name;
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number >= 0) return fact_source(file_descriptor(number), "fact file " + name);
  if (errno == ENOENT && request.missing_is_empty) return std::nullopt;
  if (errno == ENOENT) refuse_missing(name, path);
  refuse_to_open("fact file " + path.string(), errno);
}

std::optional<fact_source> fact_source::open_text_file(const read_request& request, std::string_view extension) {
  std::optional<fact_source> source = open_file(request, extension);
  if (source && request.on_size) request.on_size(source->text_bytes());
  return source;
}

fact_source::fact_source(file_descriptor descriptor, std::string name)
    : descriptor_(std::move(descriptor)), name_(std::move(name)) {
  struct stat status {};
  if (::fstat(descriptor_.number(), &status) != 0) refuse_to_open(name_, errno);
  if (S_ISDIR(status.st_mode)) refuse_to_open(name_, EISDIR);
  if (S_ISREG(status.st_mode) && descriptor_.number() != STDIN_FILENO) size_ = static_cast<std::size_t>(status.st_size);
  try {
    first_bytes_ = read_first_bytes(descriptor_);
  } catch (const read_failure& problem) {
    refuse(problem.what(), name_);
  }
  if (const std::string_view kind = unreadable_kind(first_bytes_); !kind.empty()) {
    refuse(fmt::format("It is {}; gzip, zstd and UTF-8 are read", kind), name_);
  }
}

std::unique_ptr<mapped_file> fact_source::map() const { return std::make_unique<mapped_file>(descriptor_, size_); }

std::unique_ptr<byte_source> fact_source::stream() {
  const compression how = compression_of(first_bytes_);
  return decompressed(std::make_unique<descriptor_source>(std::move(descriptor_), std::move(first_bytes_)), how);
}

byte_buffer fact_source::read_all(backend::memory_resource& memory) {
  constexpr std::size_t block = std::size_t{1} << 18;
  const auto source = stream();
  byte_buffer text(memory);
  for (;;) {
    char* const room = text.reserve(block);
    const std::size_t count = source->read(room, block);
    if (count == 0) return text;
    text.advance_to(room + count);
  }
}

void fact_source::refuse(const std::string& what, const std::string& source_name) {
  const std::size_t line_end = std::min(what.find('\n'), what.size());
  throw user_error(fmt::format("{}; cannot parse {}!{}", what.substr(0, line_end), source_name, what.substr(line_end)));
}

}  // namespace gpulog::io
