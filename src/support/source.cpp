#include "support/source.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <tuple>

#include "support/error.hpp"

namespace gpulog {

source_file::source_file(std::string path, std::string text, source_span included_from)
    : path_(std::move(path)), text_(std::move(text)), included_from_(included_from), line_starts_{0} {
  for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) {
    line_starts_.push_back(static_cast<std::uint32_t>(at + 1));
  }
}

std::uint32_t source_file::physical_line(std::uint32_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<std::uint32_t>(after - line_starts_.begin());
}

source_position source_file::position(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const std::uint32_t line = physical_line(offset);
  source_position result{path_, line, offset - line_starts_[line - 1] + 1};
  const auto after =
      std::upper_bound(line_directives_.begin(), line_directives_.end(), line,
                       [](std::uint32_t wanted, const auto& directive) { return wanted < directive->physical_line; });
  if (after != line_directives_.begin()) {
    const line_directive& directive = **(after - 1);
    result.path = directive.path;
    result.line = directive.line + (line - directive.physical_line);
  }
  return result;
}

std::string_view source_file::line_text(std::uint32_t offset) const {
  offset = std::min(offset, static_cast<std::uint32_t>(text_.size()));
  const std::uint32_t start = line_starts_[physical_line(offset) - 1];
  std::string_view line = std::string_view(text_).substr(start);
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void source_file::add_line_directive(std::uint32_t offset, std::uint32_t line, std::string path) {
  const std::uint32_t renumbered = physical_line(offset) + 1;
  if (path.empty()) path = line_directives_.empty() ? path_ : line_directives_.back()->path;
  line_directives_.push_back(std::make_unique<line_directive>(line_directive{renumbered, line, std::move(path)}));
}

source_file& source_manager::add(std::string path, std::string text, source_span included_from) {
  if (text.size() >= std::numeric_limits<std::uint32_t>::max()) {
    throw user_error("File " + path + " is too long: the limit is 4 GiB");
  }
  files_.push_back(std::make_unique<source_file>(std::move(path), std::move(text), included_from));
  return *files_.back();
}

source_file& source_manager::load(const std::string& path, source_span included_from) {
  const auto cannot_open = [&path] { return user_error("Cannot open file " + path); };
  if (stored_) {
    const auto found = stored_->find(path);
    if (found == stored_->end()) throw cannot_open();
    source_file& file = add(path, found->second.text, included_from);
    file.set_full_path(found->second.identity);
    return file;
  }
  if (!replaced_.empty()) {
    std::string file_identity = identity(path);
    if (const auto replaced = replaced_.find(file_identity); replaced != replaced_.end()) {
      source_file& file = add(path, std::string(replaced->second), included_from);
      file.set_full_path(std::move(file_identity));
      return file;
    }
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw user_error("Cannot open file " + path + ": it is a folder");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!stream) throw cannot_open();
  std::string text;
  char block[1 << 16];
  for (std::size_t count; (count = std::fread(block, 1, sizeof block, stream.get())) > 0;) {
    text.append(block, count);
    if (text.size() >= std::numeric_limits<std::uint32_t>::max()) break;
  }
  if (std::ferror(stream.get()) != 0) throw user_error("Cannot read file " + path);
  source_file& file = add(path, std::move(text), included_from);
  file.set_full_path(identity(path));
  return file;
}

bool source_manager::has_file(const std::string& path) const {
  if (stored_) return stored_->contains(path);
  std::error_code fault;
  return std::filesystem::is_regular_file(path, fault) || (!replaced_.empty() && replaced_.contains(identity(path)));
}

std::string source_manager::identity(const std::string& path) const {
  if (stored_) {
    const auto found = stored_->find(path);
    return found == stored_->end() ? path : found->second.identity;
  }
  std::error_code fault;
  const std::filesystem::path result = std::filesystem::weakly_canonical(path, fault);
  return fault ? path : result.string();
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string to_string(const source_span& span) {
  if (!span.valid()) return {};
  const source_position first = span.file->position(span.begin);
  const source_position last = span.file->position(span.end);
  return std::string(base_name(first.path)) + " [" + std::to_string(first.line) + ":" + std::to_string(first.column) +
         "-" + std::to_string(last.line) + ":" + std::to_string(last.column) + "]";
}

source_span join(const source_span& first, const source_span& last) {
  if (!first.valid()) return last;
  if (first.file != last.file) return first;
  return {first.file, std::min(first.begin, last.begin), std::max(first.end, last.end)};
}

bool comes_before(const source_span& left, const source_span& right) {
  if (!left.valid() || !right.valid()) return !left.valid() && right.valid();
  const auto key = [](const source_span& span) {
    const source_position position = span.file->position(span.begin);
    return std::tuple(position.path, position.line, position.column, span.end);
  };
  return key(left) < key(right);
}

}  // namespace gpulog
