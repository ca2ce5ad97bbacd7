#include "engine/state/state_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "support/error.hpp"

namespace gpulog::detail {
namespace {

/// The last digit is the version of the format.
constexpr std::string_view magic = "gpulog state 002";
constexpr std::uint64_t alignment = 64;

/// The end of the file.
struct trailer {
  std::uint64_t begin, bytes;  ///< of the directory
  std::array<std::uint64_t, 2> hash;
  std::array<char, magic.size()> mark;
};

std::string_view trailer_bytes(const trailer& end) { return {reinterpret_cast<const char*>(&end), sizeof(end)}; }

io::content_hash hash_of_bytes(std::string_view bytes) {
  io::content_hasher hasher;
  hasher.add(bytes);
  return hasher.finish();
}

[[noreturn]] void report_damage() { throw unusable_state("it is damaged"); }

}  // namespace

state_file_writer::state_file_writer(const std::filesystem::path& path)
    : file_(path, io::replaceable::regular_file), end_(magic.size()) {
  file_.write_at(0, magic);
}

std::size_t state_file_writer::reserve(std::string name, std::uint64_t bytes) {
  const std::uint64_t begin = (end_ + alignment - 1) / alignment * alignment;
  sections_.push_back({std::move(name), begin, bytes, 0, {}});
  end_ = begin + bytes;
  return sections_.size() - 1;
}

void state_file_writer::append(std::size_t number, std::string_view bytes) {
  section& to = sections_[number];
  ensure(to.written + bytes.size() <= to.bytes, "a section of a state file has the reserved size");
  file_.write_at(to.begin + to.written, bytes);
  to.hash.add(bytes);
  to.written += bytes.size();
}

void state_file_writer::commit() {
  nlohmann::json directory = nlohmann::json::array();
  for (section& one : sections_) {
    ensure(one.written == one.bytes, "a section of a state file is complete");
    directory.push_back({one.name, one.begin, one.bytes, one.hash.finish().text()});
  }
  const std::string text = directory.dump();
  trailer end{end_, text.size(), hash_of_bytes(text).words, {}};
  std::copy(magic.begin(), magic.end(), end.mark.begin());
  file_.write_at(end_, text);
  file_.write_at(end_ + text.size(), trailer_bytes(end));
  file_.close();
  file_.rename();
}

io::file_descriptor state_file::open(const std::filesystem::path& path) {
  io::file_descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened.number() < 0) throw unusable_state(fmt::format("it cannot be opened ({})", std::strerror(errno)));
  // Some file systems have no locks. The lock only keeps runs from doing the same work: a file is replaced as a whole.
  if (::flock(opened.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw unusable_state("another process uses it");
  return opened;
}

bool state_file::exists(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown) &&
         !(std::filesystem::is_regular_file(path, unknown) && std::filesystem::is_empty(path, unknown));
}

state_file::state_file(const std::filesystem::path& path) : descriptor_(open(path)) {
  struct stat status {};
  if (::fstat(descriptor_.number(), &status) != 0 || !S_ISREG(status.st_mode))
    throw unusable_state("it is not a regular file");
  try {
    mapped_.emplace(descriptor_, static_cast<std::size_t>(status.st_size), false);
    read_directory(path);
  } catch (const io::read_failure& failure) {
    throw unusable_state(fmt::format("it cannot be read ({})", failure.what()));
  } catch (const nlohmann::json::exception&) {
    report_damage();
  }
}

void state_file::read_directory(const std::filesystem::path& path) {
  const std::string_view all = mapped_->bytes();
  const std::size_t name_bytes = magic.size() - 3;
  if (all.substr(0, name_bytes) != magic.substr(0, name_bytes))
    throw input_error(fmt::format("{} is not a state of gpulog", path.string()));
  if (!all.starts_with(magic)) throw unusable_state("it has the format of another version of gpulog");
  trailer end{};
  if (all.size() < magic.size() + sizeof(end)) report_damage();
  const std::size_t body = all.size() - sizeof(end);
  std::memcpy(&end, all.data() + body, sizeof(end));
  const bool is_placed = end.begin <= body && end.bytes == body - end.begin;
  if (!is_placed || std::string_view(end.mark.data(), end.mark.size()) != magic) report_damage();
  const std::string_view text = all.substr(static_cast<std::size_t>(end.begin), static_cast<std::size_t>(end.bytes));
  if (hash_of_bytes(text).words != end.hash) report_damage();
  for (const auto& one : nlohmann::json::parse(text)) {
    const place where{one.at(1).get<std::uint64_t>(), one.at(2).get<std::uint64_t>(), one.at(3).get<std::string>()};
    if (where.begin > body || where.bytes > body - where.begin) report_damage();
    sections_.emplace(one.at(0).get<std::string>(), where);
  }
}

const state_file::place& state_file::place_of(const std::string& name) const {
  const auto found = sections_.find(name);
  if (found == sections_.end()) report_damage();
  return found->second;
}

std::string_view state_file::section(const std::string& name) const {
  const place& where = place_of(name);
  return mapped_->bytes().substr(static_cast<std::size_t>(where.begin), static_cast<std::size_t>(where.bytes));
}

void state_file::verify(const std::vector<std::string>& names, unsigned threads) const {
  io::task_runner run(threads);
  for (const std::string& name : names) {
    if (io::hash_content(section(name), run).text() != place_of(name).hash) report_damage();
  }
}

}  // namespace gpulog::detail
