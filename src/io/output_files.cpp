#include "io/output_files.hpp"

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
#include <ctime>
#include <string>
#include <system_error>
#include <utility>

#include "support/error.hpp"

namespace gpulog::io {
namespace {

/// A file name has at most 255 bytes; the rest is for what makes it unique.
constexpr std::size_t longest_name_part = 200;
constexpr mode_t permissions = 0666;

/// The temporary files that exist now, for a signal handler: it can take no lock and free nothing. Who takes a path out
/// of its place owns it.
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
      place.store(path);  // for its owner to free, should there be one still
    }
  }

 private:
  /// More than any program has .output directives.
  static constexpr std::size_t capacity = 65536;
  std::array<std::atomic<char*>, capacity> places_{};
};

unfinished_registry unfinished;
std::atomic<unsigned> files_made{0};

[[noreturn]] void fail(const char* what, const std::string& name, int reason) {
  throw output_error(fmt::format("Cannot {} output file {}: {}", what, name, std::strerror(reason)));
}

/// The file that is to be replaced: where a chain of symbolic links ends.
std::filesystem::path behind_links(const std::filesystem::path& path) {
  std::error_code problem;
  if (!std::filesystem::is_symlink(path, problem)) return path;
  auto target = std::filesystem::weakly_canonical(path, problem);
  return problem ? path : target;
}

}  // namespace

file_size_signal_block::file_size_signal_block() {
  sigemptyset(&limit_);
  sigaddset(&limit_, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &limit_, &before_);
}

file_size_signal_block::~file_size_signal_block() {
  const int error = errno;
  // Taken out while it is blocked: it would be delivered as soon as it no longer is.
  if (sigismember(&before_, SIGXFSZ) == 0) {
    const timespec at_once{};
    while (sigtimedwait(&limit_, nullptr, &at_once) == SIGXFSZ) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
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

output_file::output_file(const std::filesystem::path& path) : path_(behind_links(path)), temporary_(path_) {
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("open", path.string(), EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("open", path.string(), errno);
    return;
  }
  // As an open for writing would: a file that is protected is not replaced.
  if (exists && ::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) fail("open", path.string(), errno);
  const std::string name = path_.filename().string().substr(0, longest_name_part);
  do {
    temporary_ = path_.parent_path() / fmt::format(".{}.{}.{}.unfinished", name, ::getpid(), files_made++);
    // First, so that no moment is left in which a signal would leave the file.
    registration_ = unfinished.add(temporary_.string());
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
    if (descriptor_ >= 0) break;
    unfinished.remove(std::exchange(registration_, -1));
  } while (errno == EEXIST);
  if (descriptor_ < 0) fail("open", path.string(), errno);
  if (exists) ::fchmod(descriptor_, status.st_mode & 07777);
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

void output_file::close() {
  if (descriptor_ < 0) return;
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write", path_.string(), errno);
}

void output_file::rename() {
  if (registration_ < 0) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename", path_.string(), errno);
  unfinished.remove(std::exchange(registration_, -1));
}

const output_file* output_files::find(const std::filesystem::path& path) const {
  std::error_code ignored;
  const auto wanted = std::filesystem::weakly_canonical(path, ignored);
  for (const output_file& file : files_) {
    if (std::filesystem::weakly_canonical(file.path(), ignored) == wanted) return &file;
  }
  return nullptr;
}

void output_files::commit() {
  for (output_file& file : files_) file.rename();
  files_.clear();
}

void remove_unfinished_outputs() noexcept { unfinished.unlink_all(); }

}  // namespace gpulog::io
