#include "io/relation_writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>

#include "io/directive_parameters.hpp"
#include "io/formats/arrow/arrow_writer.hpp"
#include "io/formats/sqlite/sqlite_writer.hpp"
#include "io/formats/text/gzip_text.hpp"
#include "io/row_formatter.hpp"
#include "io/task_runner.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

/// Values that one thread formats at a time. Fixed, so that compressed bytes don't depend on the threads.
constexpr std::uint64_t values_per_piece = 65536;
/// Pieces that may wait for their turn to be written, for each thread.
constexpr std::size_t waiting_per_thread = 4;
constexpr const char* standard_output_name = "standard output";

void flush_other_writers() {
  std::cout.flush();
  std::fflush(stdout);
}

/// Where finished bytes go, in order.
using byte_sink = std::function<void(std::string_view)>;

/// Pieces that are made by many threads in any order, and written in the order of their numbers by whoever finds the
/// next one ready.
template <class Piece>
class ordered_writer {
 public:
  ordered_writer(std::size_t limit, std::function<void(Piece)> write) : limit_(limit), write_(std::move(write)) {}

  /// Blocks while too many pieces wait. The piece whose turn it is never waits.
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

  /// A piece will never come: nobody is to wait for it.
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

/// Buffers that were written, to be filled again: fresh memory costs more than formatting into it.
class buffer_pool {
 public:
  byte_buffer take() {
    const std::lock_guard lock(access_);
    if (spare_.empty()) return {};
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
  std::mutex access_;
  std::vector<byte_buffer> spare_;
};

/// The text of all rows to the sink. A piece is a number of rows; the first has what stands before all rows, the last
/// what stands behind them.
template <class MakePiece, class WritePiece>
void write_pieces(const relation_rows& rows, const row_formatter& formatter, unsigned threads, buffer_pool& buffers,
                  const MakePiece& make_piece, const WritePiece& write_piece) {
  const std::uint64_t rows_per_piece = std::max<std::uint64_t>(values_per_piece / (rows.columns.size() + 1), 1);
  const std::uint64_t pieces = std::max<std::uint64_t>((rows.rows + rows_per_piece - 1) / rows_per_piece, 1);
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
  buffer_pool buffers;
  write_pieces(
      rows, formatter, threads, buffers, [](byte_buffer text) { return text; },
      [&](byte_buffer text) {
        sink(text.bytes());
        buffers.give_back(std::move(text));
      });
}

void write_compressed(const relation_rows& rows, const row_formatter& formatter, unsigned threads,
                      const byte_sink& sink) {
  buffer_pool buffers;
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

/// Lines on standard output, marked so that relations can be told apart.
class framed_formatter : public row_formatter {
 public:
  framed_formatter(const row_formatter& lines, const std::string& relation) : lines_(lines), relation_(relation) {}
  [[nodiscard]] std::string beginning() const override {
    return fmt::format("---------------\n{}\n{}===============\n", relation_, lines_.beginning());
  }
  [[nodiscard]] std::string end() const override { return "===============\n"; }
  void append_rows(byte_buffer& text, std::uint64_t first, std::uint64_t last) const override {
    lines_.append_rows(text, first, last);
  }

 private:
  const row_formatter& lines_;
  const std::string& relation_;
};

class relation_writing {
 public:
  relation_writing(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                   output_files& files)
      : rows_(rows), request_(request), parameters_(request.parameters), symbols_(symbols), files_(files) {
    ensure(rows.kinds.size() == rows.columns.size(), "a relation has a kind for every column");
  }

  void write() {
    const bool all_to_standard_output = request_.output_directory == "-";
    const std::string kind = all_to_standard_output ? "stdout" : parameters_.text("IO", "file");
    if (kind == "file") {
      write_file(delimited(parameters_.flag("headers")), ".csv", parameters_.flag("compress"));
    } else if (kind == "stdout") {
      const delimited_formatter lines = delimited(all_to_standard_output || parameters_.flag("headers"));
      write_plain(rows_, framed_formatter(lines, rows_.relation), request_.threads, standard_output());
    } else if (kind == "jsonfile") {
      write_file(json(), ".json", false);
    } else if (kind == "sqlite") {
      write_sqlite(rows_, request_, symbols_, files_);
    } else if (kind == "parquet") {
      write_arrow(rows_, request_, arrow_format::parquet, symbols_, files_);
    } else if (kind == "arrow") {
      write_arrow(rows_, request_, arrow_format::arrow, symbols_, files_);
    } else if (kind == "json") {
      write_plain(rows_, json(), request_.threads, standard_output());
    } else if (kind == "stdoutprintsize") {
      print_relation_size(rows_.relation, rows_.rows);
    } else {
      throw user_error(fmt::format("Requested output type <{}> is not supported.", kind));
    }
  }

 private:
  [[nodiscard]] delimited_formatter delimited(bool headers) const {
    const bool rfc4180 = parameters_.flag("rfc4180");
    return {rows_, symbols_, parameters_.delimiter(rfc4180), rfc4180, headers};
  }

  [[nodiscard]] json_formatter json() const {
    const std::string format = parameters_.text("format", "list");
    if (format != "list" && format != "object") {
      throw user_error(fmt::format("the parameter format is list or object, not \"{}\"", format));
    }
    return {rows_, symbols_, format == "object"};
  }

  static byte_sink standard_output() {
    flush_other_writers();
    return [](std::string_view bytes) { write_bytes(STDOUT_FILENO, bytes, standard_output_name); };
  }

  void write_file(const row_formatter& formatter, std::string_view extension, bool compress) {
    const std::string default_name = fmt::format("{}{}{}", rows_.relation, extension, compress ? ".gz" : "");
    output_file file(request_.output_directory / parameters_.text("filename", default_name));
    const byte_sink sink = [&](std::string_view bytes) { file.write(bytes); };
    if (compress) {
      write_compressed(rows_, formatter, request_.threads, sink);
    } else {
      write_plain(rows_, formatter, request_.threads, sink);
    }
    file.close();
    files_.add(std::move(file));
  }

  const relation_rows& rows_;
  const write_request& request_;
  directive_parameters parameters_;
  const storage::symbol_table& symbols_;
  output_files& files_;
};

}  // namespace

void write_relation(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                    output_files& files) {
  try {
    relation_writing(rows, request, symbols, files).write();
  } catch (const user_error& problem) {
    throw user_error(fmt::format("Error writing {} data: {}", rows.relation, problem.what()));
  }
}

void print_relation_size(const std::string& relation, std::uint64_t rows) {
  flush_other_writers();
  write_bytes(STDOUT_FILENO, fmt::format("{}\t{}\n", relation, rows), standard_output_name);
}

}  // namespace gpulog::io
