#include "io/row_writing.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>

#include "io/directive_parameters.hpp"
#include "io/formats.hpp"
#include "io/formats/text/gzip_text.hpp"
#include "io/formats/text/zstd_text.hpp"
#include "io/task_runner.hpp"
#include "support/long_vector.hpp"

namespace gpulog::io {
namespace {

/// Values that a thread formats at a time. Fixed, so that compressed bytes do not depend on the number of threads.
constexpr std::uint64_t values_per_piece = 65536;
/// The same if values may have any size.
constexpr std::uint64_t records_per_piece = 1024;
/// Limit of finished pieces that wait to be written, per thread.
constexpr std::size_t waiting_per_thread = 4;
constexpr const char* standard_output_name = "standard output";

/// Receives finished bytes, in order.
using byte_sink = std::function<void(std::string_view)>;

/// Writes pieces in the order of their numbers. Threads make pieces in any order; the thread that adds the next piece
/// writes the ready ones.
template <class Piece>
class ordered_writer {
 public:
  ordered_writer(std::size_t limit, std::function<void(Piece)> write) : limit_(limit), write_(std::move(write)) {}

  /// Blocks while too many pieces wait. The next piece never waits.
  void add(std::size_t number, Piece piece) {
    std::unique_lock lock(access_);
    changed_.wait(lock, [&] { return number < next_ + limit_ || failed_; });
    if (failed_) return;
    ready_.emplace(number, std::move(piece));
    if (writing_) return;
    writing_ = true;
    for (auto found = ready_.find(next_); found != ready_.end(); found = ready_.find(next_)) {
      Piece current = std::move(found->second);
      ready_.erase(found);
      lock.unlock();
      write_(std::move(current));
      lock.lock();
      ++next_;
      changed_.notify_all();
    }
    writing_ = false;
  }

  /// Wakes all waiting threads after a piece failed.
  void give_up() {
    const std::lock_guard lock(access_);
    failed_ = true;
    changed_.notify_all();
  }

 private:
  std::size_t limit_;
  std::function<void(Piece)> write_;
  std::mutex access_;
  std::condition_variable changed_;
  std::map<std::size_t, Piece> ready_;
  std::size_t next_ = 0;
  bool writing_ = false;
  bool failed_ = false;
};

/// Reuses written buffers: fresh memory costs more than formatting.
class buffer_pool {
 public:
  explicit buffer_pool(backend::memory_resource& memory) : memory_(memory) {}
  byte_buffer take() {
    const std::lock_guard lock(access_);
    if (spare_.empty()) return byte_buffer(memory_);
    byte_buffer buffer = std::move(spare_.back());
    spare_.pop_back();
    return buffer;
  }
  void give_back(byte_buffer buffer) {
    buffer.clear();
    const std::lock_guard lock(access_);
    spare_.push_back(std::move(buffer));
  }

 private:
  backend::memory_resource& memory_;
  std::mutex access_;
  std::vector<byte_buffer> spare_;
};

std::uint64_t rows_of_piece(const relation_rows& rows) {
  const bool has_records = std::any_of(rows.kinds.begin(), rows.kinds.end(), is_structured);
  return std::max<std::uint64_t>((has_records ? records_per_piece : values_per_piece) / (rows.columns.size() + 1), 1);
}

/// Writes the text of all rows to the sink. A piece is a fixed number of rows. The first piece begins with the
/// formatter's beginning, and the last piece ends with its end.
template <class MakePiece, class WritePiece>
void write_pieces(const relation_rows& rows, const row_formatter& formatter, unsigned threads, buffer_pool& buffers,
                  const MakePiece& make_piece, const WritePiece& write_piece) {
  const std::uint64_t rows_per_piece = rows_of_piece(rows);
  const std::size_t pieces = memory_size(count_pieces(rows));
  task_runner run(threads);
  using piece = decltype(make_piece(byte_buffer{}));
  ordered_writer<piece> writer(waiting_per_thread * run.threads(), write_piece);
  run(pieces, [&](std::size_t number) {
    try {
      byte_buffer text = buffers.take();
      if (number == 0) text.append(formatter.beginning());
      formatter.append_rows(text, number * rows_per_piece, std::min((number + 1) * rows_per_piece, rows.rows));
      if (number + 1 == pieces) text.append(formatter.end());
      writer.add(number, make_piece(std::move(text)));
    } catch (...) {
      writer.give_up();
      throw;
    }
  });
}

void write_plain(const relation_rows& rows, const row_formatter& formatter, unsigned threads, const byte_sink& sink) {
  buffer_pool buffers(*rows.memory);
  write_pieces(
      rows, formatter, threads, buffers, [](byte_buffer text) { return text; },
      [&](byte_buffer text) {
        sink(text.bytes());
        buffers.give_back(std::move(text));
      });
}

void write_gzip(const relation_rows& rows, const row_formatter& formatter, unsigned threads, const byte_sink& sink) {
  buffer_pool buffers(*rows.memory);
  gzip_ending ending;
  sink(gzip_beginning());
  write_pieces(
      rows, formatter, threads, buffers,
      [&](byte_buffer text) {
        compressed_piece piece = compress_piece(text.bytes());
        buffers.give_back(std::move(text));
        return piece;
      },
      [&](const compressed_piece& piece) {
        ending.add(piece);
        sink(piece.bytes);
      });
  sink(ending.bytes());
}

void write_zstd(const relation_rows& rows, const row_formatter& formatter, unsigned threads, const byte_sink& sink) {
  zstd_text compressed(threads, sink);
  write_plain(rows, formatter, threads, [&](std::string_view bytes) { compressed.write(bytes); });
  compressed.end();
}

void flush_other_writers() {
  std::cout.flush();
  std::fflush(stdout);
}

}  // namespace

std::uint64_t count_pieces(const relation_rows& rows) {
  const std::uint64_t rows_per_piece = rows_of_piece(rows);
  return std::max<std::uint64_t>((rows.rows + rows_per_piece - 1) / rows_per_piece, 1);
}

void print_text(std::string_view text) {
  flush_other_writers();
  write_bytes(STDOUT_FILENO, text, standard_output_name);
}

void print_rows(const relation_rows& rows, const row_formatter& formatter, unsigned threads) {
  flush_other_writers();
  write_plain(rows, formatter, threads,
              [](std::string_view bytes) { write_bytes(STDOUT_FILENO, bytes, standard_output_name); });
}

void write_rows(const relation_rows& rows, const write_request& request, const row_formatter& formatter,
                compression how, output_files& files) {
  output_file file(request.output_directory / output_name(rows.relation, directive_parameters(request.parameters)));
  const byte_sink sink = [&](std::string_view bytes) { file.write(bytes); };
  switch (how) {
    case compression::none:
      write_plain(rows, formatter, request.threads, sink);
      break;
    case compression::gzip:
      write_gzip(rows, formatter, request.threads, sink);
      break;
    case compression::zstd:
      write_zstd(rows, formatter, request.threads, sink);
      break;
  }
  file.close();
  files.add(std::move(file));
}

}  // namespace gpulog::io
