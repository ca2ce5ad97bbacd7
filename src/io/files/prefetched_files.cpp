#include "io/files/prefetched_files.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

#include "io/files/compression.hpp"

namespace gpulog::io {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

/// Fills the text until the source ends.
void fill(byte_source& source, std::string& text) {
  std::size_t size = 0;
  while (size < text.size()) {
    const std::size_t count = source.read(text.data() + size, text.size() - size);
    if (count == 0) break;
    size += count;
  }
  text.resize(size);
}

}  // namespace

/// Reads the available bytes of a file, and waits for more.
class prefetched_files::taken_source : public byte_source {
 public:
  taken_source(prefetched_files& all, std::size_t number) : all_(all), number_(number) {}

  std::size_t read(char* buffer, std::size_t size) override {
    if (read_ == piece_.size() && !next_piece()) return 0;
    const std::size_t count = std::min(size, piece_.size() - read_);
    std::memcpy(buffer, piece_.data() + read_, count);
    read_ += count;
    return count;
  }

 private:
  bool next_piece() {
    std::unique_lock lock(all_.access_);
    upcoming& file = all_.files_[number_];
    all_.changed_.wait(lock, [&] { return !file.pieces.empty() || file.is_finished; });
    if (file.pieces.empty()) {
      if (!file.failure.empty()) throw read_failure(file.failure);
      return false;
    }
    piece_ = std::move(file.pieces.front());
    file.pieces.pop_front();
    all_.waiting_ -= piece_.size();
    read_ = 0;
    lock.unlock();
    all_.changed_.notify_all();
    return true;
  }

  prefetched_files& all_;
  std::size_t number_;
  std::string piece_;
  std::size_t read_ = 0;
};

prefetched_files::prefetched_files(std::vector<std::filesystem::path> files, unsigned threads, std::uint64_t most_bytes)
    : most_bytes_(most_bytes) {
  for (std::filesystem::path& path : files) files_.push_back({std::move(path), {}, false, false, {}});
  const std::size_t wanted = std::min<std::size_t>(threads, files_.size());
  for (std::size_t i = 0; i < wanted; ++i) threads_.emplace_back([this] { work(); });
}

prefetched_files::~prefetched_files() {
  {
    const std::lock_guard lock(access_);
    is_abandoned_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::unique_ptr<byte_source> prefetched_files::take(const std::filesystem::path& file) {
  std::unique_lock lock(access_);
  std::size_t number = reading_;
  while (number < files_.size() && files_[number].path != file) ++number;
  if (number == files_.size()) return nullptr;
  give_up_until(number);
  reading_ = number;
  // A file that no thread has begun is read by its reader without loss.
  const bool is_begun = number < next_;
  if (!is_begun) next_ = number + 1;
  if (is_begun) {
    changed_.notify_all();
    changed_.wait(lock, [&] { return !files_[number].pieces.empty() || files_[number].is_finished; });
  }
  if (!is_begun || files_[number].is_plain) {
    reading_ = number + 1;
    return nullptr;
  }
  return std::make_unique<taken_source>(*this, number);
}

std::size_t prefetched_files::begun() {
  const std::lock_guard lock(access_);
  return next_;
}

void prefetched_files::give_up_until(std::size_t number) {
  for (std::size_t i = reading_; i < number; ++i) {
    for (const std::string& piece : files_[i].pieces) waiting_ -= piece.size();
    files_[i].pieces.clear();
  }
}

void prefetched_files::work() {
  for (;;) {
    std::size_t number = 0;
    {
      std::unique_lock lock(access_);
      if (is_abandoned_ || next_ >= files_.size()) return;
      number = next_++;
    }
    decompress(number);
    {
      const std::lock_guard lock(access_);
      files_[number].is_finished = true;
    }
    changed_.notify_all();
  }
}

void prefetched_files::decompress(std::size_t number) {
  upcoming& file = files_[number];
  try {
    // A pipe can be read only once.
    std::error_code unknown;
    const bool is_file = std::filesystem::is_regular_file(file.path, unknown);
    const int number_or_none = is_file ? ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
    file.is_plain = number_or_none < 0;
    if (file.is_plain) return;
    file_descriptor descriptor(number_or_none);
    std::string beginning = read_first_bytes(descriptor);
    const compression how = compression_of(beginning);
    file.is_plain = how == compression::none;
    if (file.is_plain) return;
    const auto text =
        decompressed(std::make_unique<descriptor_source>(std::move(descriptor), std::move(beginning)), how);
    for (;;) {
      std::string piece(piece_bytes, '\0');
      fill(*text, piece);
      if (piece.empty() || !add(number, std::move(piece))) return;
    }
  } catch (const std::exception& failure) {
    file.failure = failure.what();
  }
}

bool prefetched_files::add(std::size_t number, std::string piece) {
  std::unique_lock lock(access_);
  const auto is_wanted = [&] { return !is_abandoned_ && number >= reading_; };
  // The file being read always has space for a piece, so that reading continues.
  changed_.wait(lock, [&] {
    return !is_wanted() || waiting_ < most_bytes_ || (number == reading_ && files_[number].pieces.empty());
  });
  if (!is_wanted()) return false;
  waiting_ += piece.size();
  files_[number].pieces.push_back(std::move(piece));
  lock.unlock();
  changed_.notify_all();
  return true;
}

}  // namespace gpulog::io
