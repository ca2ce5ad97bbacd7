#include "engine/state/state_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "support/error.hpp"

namespace gpulog::detail {
namespace {

/// The last digit is the version of the format.
constexpr std::string_view magic = "gpulog state 003";
constexpr std::uint64_t alignment = 64;
constexpr std::uint64_t sections_begin = 3 * alignment;  ///< after the magic and two commits
/// Bytes of a section per byte of room for later bytes.
constexpr std::uint64_t bytes_per_room = 8;
/// A file may become this much larger than twice its content before it is written as a whole.
constexpr std::uint64_t most_unused_bytes = std::uint64_t{1} << 16;

io::content_hash hash_of_bytes(std::string_view bytes) {
  io::content_hasher hasher;
  hasher.add(bytes);
  return hasher.finish();
}

/// Describes a directory.
struct commit_record {
  std::uint64_t number, begin, bytes;
  std::array<std::uint64_t, 2> hash;   ///< of the directory
  std::array<std::uint64_t, 2> check;  ///< hash of the members above

  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(this), sizeof(*this)}; }
  [[nodiscard]] std::array<std::uint64_t, 2> own_hash() const {
    return hash_of_bytes(text().substr(0, offsetof(commit_record, check))).words;
  }
};

/// Returns the place of a commit: successive commits have different places.
std::uint64_t place_of_commit(std::uint64_t number) { return alignment * (1 + number % 2); }

[[noreturn]] void report_damage() { throw unusable_state("it is damaged"); }

}  // namespace

struct state_file_writer::section {
  std::string name;
  state_file::place where;     ///< with the bytes of the base
  std::uint64_t begin, bytes;  ///< of the new bytes, all of which are expected
  std::uint64_t written = 0;
  io::content_hasher hash = {};
};

state_file_writer::state_file_writer(const std::filesystem::path& path, const state_file* base)
    : base_(base),
      file_(base != nullptr ? io::output_file::existing(path) : io::output_file(path, io::replaceable::regular_file)),
      end_(base != nullptr ? base->end_ : sections_begin) {
  if (base == nullptr) file_.write_at(0, magic);
}

state_file_writer::~state_file_writer() = default;

std::size_t state_file_writer::reserve(std::string name, std::uint64_t bytes) {
  const std::uint64_t begin = (end_ + alignment - 1) / alignment * alignment;
  const std::uint64_t capacity = bytes + bytes / bytes_per_room;
  sections_.push_back({std::move(name), {begin, capacity}, begin, bytes});
  end_ = begin + capacity;
  return sections_.size() - 1;
}

bool state_file_writer::can_extend(const std::string& name, std::uint64_t bytes) const {
  if (base_ == nullptr) return false;
  const auto found = base_->sections_.find(name);
  return found != base_->sections_.end() && bytes <= found->second.capacity - found->second.bytes();
}

std::size_t state_file_writer::extend(const std::string& name, std::uint64_t bytes) {
  const state_file::place& kept = base_->place_of(name);
  sections_.push_back({name, kept, kept.begin + kept.bytes(), bytes});
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
    if (one.bytes > 0) one.where.pieces.push_back({one.bytes, one.hash.finish().text()});
    nlohmann::json pieces = nlohmann::json::array();
    for (const auto& [bytes, hash] : one.where.pieces) pieces.push_back({bytes, hash});
    directory.push_back({one.name, one.where.begin, one.where.capacity, std::move(pieces)});
  }
  const std::string text = directory.dump();
  file_.write_at(end_, text);
  commit_record made{base_ != nullptr ? base_->commit_ + 1 : 1, end_, text.size(), hash_of_bytes(text).words, {}};
  made.check = made.own_hash();
  file_.write_at(place_of_commit(made.number), made.text());
  file_.close();
  file_.rename();
  if (base_ != nullptr) base_->unlock();
}

std::uint64_t state_file::place::bytes() const {
  return std::accumulate(pieces.begin(), pieces.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const piece& one) { return sum + one.bytes; });
}

io::file_descriptor state_file::open(const std::filesystem::path& path) {
  io::file_descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened.number() < 0) throw unusable_state(fmt::format("it cannot be opened ({})", std::strerror(errno)));
  return opened;
}

bool state_file::exists(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown) &&
         !(std::filesystem::is_regular_file(path, unknown) && std::filesystem::is_empty(path, unknown));
}

state_file::state_file(const std::filesystem::path& path) : descriptor_(open(path)) {
  // Some file systems have no locks. Then the lock keeps no runs from doing the same work: a file is replaced as a
  // whole.
  is_locked_ = ::flock(descriptor_.number(), LOCK_EX | LOCK_NB) == 0;
  if (!is_locked_ && errno == EWOULDBLOCK) throw unusable_state("another process uses it");
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
  // A failure of the system may have lost the last commit.
  if (!read_commit(std::numeric_limits<std::uint64_t>::max()) && !(commit_ > 1 && read_commit(commit_)))
    report_damage();
}

/// Reads the directory of the last commit with a number below a bound.
/// @return false for a directory that is not in the file as a whole
bool state_file::read_commit(std::uint64_t number_below) {
  const std::string_view all = mapped_->bytes();
  commit_record last{};
  for (std::uint64_t number = 0; number < 2; ++number) {
    commit_record one{};
    if (all.size() < place_of_commit(number) + sizeof(one)) return false;
    std::memcpy(&one, all.data() + place_of_commit(number), sizeof(one));
    if (one.check == one.own_hash() && one.number < number_below && one.number > last.number) last = one;
  }
  if (last.number == 0 || last.begin > all.size() || last.bytes > all.size() - last.begin) return false;
  commit_ = last.number;
  const std::string_view text = all.substr(static_cast<std::size_t>(last.begin), static_cast<std::size_t>(last.bytes));
  if (hash_of_bytes(text).words != last.hash) return false;
  for (const auto& one : nlohmann::json::parse(text)) {
    place where{one.at(1).get<std::uint64_t>(), one.at(2).get<std::uint64_t>()};
    for (const auto& part : one.at(3))
      where.pieces.push_back({part.at(0).get<std::uint64_t>(), part.at(1).get<std::string>()});
    if (where.begin > last.begin || where.bytes() > last.begin - where.begin) report_damage();
    sections_.emplace(one.at(0).get<std::string>(), std::move(where));
  }
  end_ = last.begin + last.bytes;
  return true;
}

const state_file::place& state_file::place_of(const std::string& name) const {
  const auto found = sections_.find(name);
  if (found == sections_.end()) report_damage();
  return found->second;
}

std::string_view state_file::section(const std::string& name) const {
  const place& where = place_of(name);
  return mapped_->bytes().substr(static_cast<std::size_t>(where.begin), static_cast<std::size_t>(where.bytes()));
}

void state_file::verify(const std::vector<std::string>& names, unsigned threads) const {
  io::task_runner run(threads);
  for (const std::string& name : names) {
    std::string_view rest = section(name);
    for (const piece& one : place_of(name).pieces) {
      if (io::hash_content(rest.substr(0, static_cast<std::size_t>(one.bytes)), run).text() != one.hash)
        report_damage();
      rest.remove_prefix(static_cast<std::size_t>(one.bytes));
    }
  }
}

void state_file::unlock() const {
  ::flock(descriptor_.number(), LOCK_UN);
  is_locked_ = false;
}

bool state_file::may_grow(const std::filesystem::path& path) const {
  struct stat here {};
  struct stat there {};
  const bool is_same = ::fstat(descriptor_.number(), &here) == 0 && ::lstat(path.c_str(), &there) == 0 &&
                       here.st_dev == there.st_dev && here.st_ino == there.st_ino;
  std::uint64_t used = most_unused_bytes;
  for (const auto& [name, where] : sections_) used += 2 * where.capacity;
  return is_locked_ && is_same && end_ <= used;
}

}  // namespace gpulog::detail
