#include "io/files/output_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "support/error.hpp"

namespace gpulog::io {
namespace {

/// A file name has at most 255 bytes; the remaining 55 make a temporary name unique.
constexpr std::size_t longest_name_part = 200;
constexpr mode_t permissions = 0666;

/// The temporary files that exist now, for a signal handler, which can neither lock nor free memory. Whoever exchanges
/// a path out of its slot owns the path.
class unfinished_registry {
 public:
  std::ptrdiff_t add(const std::string& path) {
    char* copy = ::strdup(path.c_str());
    if (copy == nullptr) throw std::bad_alloc();
    for (std::size_t place = 0; place < places_.size(); ++place) {
      char* expected = nullptr;
      if (places_[place].compare_exchange_strong(expected, copy)) return static_cast<std::ptrdiff_t>(place);
    }
    std::free(copy);
    throw output_error(fmt::format("more than {} output files at a time", places_.size()));
  }

  void remove(std::ptrdiff_t place) noexcept { std::free(places_[static_cast<std::size_t>(place)].exchange(nullptr)); }

  void unlink_all() noexcept {
    for (auto& place : places_) {
      char* path = place.exchange(nullptr);
      if (path == nullptr) continue;
      ::unlink(path);
      place.store(path);  // for the owner to free
    }
  }

 private:
  /// More than the .output directives of any program.
  static constexpr std::size_t capacity = 65536;
  std::array<std::atomic<char*>, capacity> places_{};
};

unfinished_registry unfinished;
std::atomic<unsigned> files_made{0};

[[noreturn]] void fail(const char* what, const std::string& name, int reason) {
  throw output_error(fmt::format("Cannot {} output file {}: {}", what, name, std::strerror(reason)));
}

/// Returns the target of a chain of symbolic links.
std::filesystem::path behind_links(const std::filesystem::path& path) {
  std::error_code problem;
  if (!std::filesystem::is_symlink(path, problem)) return path;
  auto target = std::filesystem::weakly_canonical(path, problem);
  return problem ? path : target;
}

[[noreturn]] void fail_to_open(const std::filesystem::path& path, int reason) {
  std::error_code ignored;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (reason != ENOENT || std::filesystem::is_directory(folder, ignored)) fail("open", path.string(), reason);
  throw output_error(fmt::format("Cannot open output file {}: there is no folder {}", path.string(), folder.string()));
}

/// Returns the number of the standard stream that writes to the file; negative: no stream.
int standard_stream_of(const struct stat& file) {
  for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat stream {};
    const bool is_same = ::fstat(number, &stream) == 0 && stream.st_dev == file.st_dev && stream.st_ino == file.st_ino;
    if (is_same && (::fcntl(number, F_GETFL) & O_ACCMODE) != O_RDONLY) return number;
  }
  return -1;
}

}  // namespace

bool is_written_in_place(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return false;
  return !S_ISREG(status.st_mode) || standard_stream_of(status) >= 0;
}

void write_bytes(int descriptor, std::string_view bytes, const std::string& name) {
  const file_size_signal_block block;
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      fail("write", name, errno);
    }
  }
}

namespace {

/// The present file at the path of an output.
struct destination {
  std::filesystem::path path;  ///< where a chain of links ends
  std::optional<struct stat> replaced;
  bool is_in_place = false;
};

/// @throws output_error where the path can't be written
destination destination_of(const std::filesystem::path& path, replaceable old) {
  const bool only_file = old == replaceable::regular_file;
  struct stat status {};
  const bool exists = ::fstatat(AT_FDCWD, path.c_str(), &status, only_file ? AT_SYMLINK_NOFOLLOW : 0) == 0;
  if (!exists && errno != ENOENT) fail_to_open(path, errno);
  if (!exists) return {only_file ? path : behind_links(path), std::nullopt, false};
  if (S_ISDIR(status.st_mode)) fail_to_open(path, EISDIR);
  if (only_file && !S_ISREG(status.st_mode)) {
    throw output_error(fmt::format("Cannot replace {}: it is not a regular file", path.string()));
  }
  const bool is_standard = !only_file && standard_stream_of(status) >= 0;
  destination result{path, status, is_standard || (!only_file && !S_ISREG(status.st_mode))};
  if (!only_file && !result.is_in_place) result.path = behind_links(path);
  // Like open() for writing, refuses a protected file.
  if (!is_standard && ::faccessat(AT_FDCWD, result.path.c_str(), W_OK, AT_EACCESS) != 0) fail_to_open(path, errno);
  return result;
}

}  // namespace

void output_check::require_writable(const std::filesystem::path& path) {
  const destination target = destination_of(path, replaceable::what_is_written);
  if (target.is_in_place || !folders_.insert(target.path.parent_path()).second) return;
  const output_file trial(path);
}

output_file::output_file(const std::filesystem::path& path, replaceable old) : path_(path), temporary_(path) {
  const destination target = destination_of(path, old);
  if (target.is_in_place) {
    // A second open would start at the file's beginning and overwrite earlier bytes.
    const int standard = standard_stream_of(*target.replaced);
    descriptor_ = standard >= 0 ? ::fcntl(standard, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail_to_open(path, errno);
    return;
  }
  path_ = target.path;
  const std::string name = path_.filename().string().substr(0, longest_name_part);
  do {
    temporary_ = path_.parent_path() / fmt::format(".{}.{}.{}.unfinished", name, ::getpid(), files_made++);
    // Registers the name before creating the file: a signal at any time removes the file.
    registration_ = unfinished.add(temporary_.string());
    // O_NOFOLLOW and O_EXCL: a link that somebody planted is never followed.
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, permissions);
    if (descriptor_ >= 0) break;
    unfinished.remove(std::exchange(registration_, -1));
  } while (errno == EEXIST);
  if (descriptor_ < 0) fail_to_open(path, errno);
  if (target.replaced) ::fchmod(descriptor_, target.replaced->st_mode & 07777);
}

output_file output_file::existing(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) fail_to_open(path, errno);
  return {path, descriptor};
}

output_file::output_file(output_file&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      registration_(std::exchange(other.registration_, -1)) {}

output_file::~output_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (registration_ < 0) return;
  ::unlink(temporary_.c_str());
  unfinished.remove(registration_);
}

void output_file::write(std::string_view bytes) { write_bytes(descriptor_, bytes, path_.string()); }

void output_file::write_at(std::uint64_t place, std::string_view bytes) {
  const file_size_signal_block block;
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      place += static_cast<std::uint64_t>(count);
    } else if (errno != EINTR) {
      fail("write", path_.string(), errno);
    }
  }
}

void output_file::make_executable() {
  constexpr mode_t usual = 0777;
  constexpr mode_t by_everybody = 0111;
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || ::fchmod(descriptor_, (status.st_mode & usual) | by_everybody) != 0) {
    fail("write", path_.string(), errno);
  }
}

void output_file::close() {
  if (descriptor_ < 0) return;
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write", path_.string(), errno);
}

void output_file::rename() {
  if (registration_ < 0) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename", path_.string(), errno);
  unfinished.remove(std::exchange(registration_, -1));
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  output_file file(path);
  file.write(bytes);
  file.close();
  file.rename();
}

std::filesystem::path output_files::real_path(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path file = behind_links(path);
  const auto [folder, is_new] = folders_.try_emplace(file.has_parent_path() ? file.parent_path() : ".");
  if (is_new) folder->second = std::filesystem::weakly_canonical(folder->first, ignored);
  return folder->second / file.filename();
}

void output_files::add(output_file file) {
  numbers_.try_emplace(real_path(file.path()), files_.size());
  files_.push_back(std::move(file));
}

void output_files::append(output_files other) {
  for (output_file& file : other.files_) add(std::move(file));
}

const output_file* output_files::find(const std::filesystem::path& path) {
  const auto found = numbers_.find(real_path(path));
  return found == numbers_.end() ? nullptr : &files_[found->second];
}

void output_files::commit() {
  for (output_file& file : files_) file.rename();
  files_.clear();
  numbers_.clear();
}

void remove_unfinished_outputs() noexcept { unfinished.unlink_all(); }

}  // namespace gpulog::io
