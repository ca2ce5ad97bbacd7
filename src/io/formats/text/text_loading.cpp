#include "io/formats/text/text_loading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "storage/representation/hisa_rows.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

/// The position of a text in a load: the file in the upper bits, the offset of the piece in the lower bits.
constexpr unsigned offset_bits = 44;

}  // namespace

/// Runs a part of the work, unless the file has failed, and keeps the first exception.
template <class Work>
void text_loading::guarded(const Work& work) {
  {
    const std::lock_guard lock(failing_);
    if (file_.failure) return;
  }
  std::exception_ptr failure;
  bool is_memory = false;
  try {
    try {
      return work();
    } catch (const read_failure& problem) {
      refuse(problem.what());
    }
  } catch (const backend::memory_exceeded&) {
    failure = std::current_exception();
    is_memory = true;
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(failing_);
  if (!file_.failure) file_.failure = failure;
  std::uint64_t first = load_.first_failed;
  while (!is_memory && number_ < first && !load_.first_failed.compare_exchange_weak(first, number_)) {
  }
}

std::uint64_t text_loading::step() {
  if (!is_open_) return begin();
  bool has_more = false;
  guarded([&] { has_more = read_piece(); });
  if (has_more) return remaining_bytes();
  end_piece();
  return 0;
}

/// Members of a mapped file belong to the jobs as soon as the first job is added.
std::uint64_t text_loading::begin() {
  is_open_ = true;
  file_.begin = storage::seconds_now();
  source_kind kind = source_kind::none;
  guarded([&] { kind = open(); });
  if (kind == source_kind::stream) return remaining_bytes();
  if (kind == source_kind::none) finish();
  return 0;
}

std::uint64_t text_loading::remaining_bytes() const { return std::max(expected_bytes_, read_bytes_ + 1) - read_bytes_; }

text_loading::source_kind text_loading::open() {
  if (number_ > load_.first_failed) return source_kind::none;
  std::optional<fact_source> source = [this] {
    const std::lock_guard lock(load_.callbacks);
    return open_();
  }();
  if (!source) return source_kind::none;
  source_name_ = source->name();
  begins_with_mark_ = source->begins_with_mark();
  prepare_layout();
  if (source->is_whole_file() && !source->compressed()) {
    mapped_ = source->map();
    cut_text(mapped_->bytes());
    return source_kind::mapped;
  }
  expected_bytes_ = source->text_bytes();
  source_ = source->stream();
  stream_.emplace(*source_, layout_, has_headers_, file_.request.piece_bytes, *file_.request.memory);
  return source_kind::stream;
}

void text_loading::prepare_layout() {
  const read_request& request = file_.request;
  layout_ = make_row_layout(parameters_, request.kinds);
  has_headers_ = parameters_.flag("headers");
  if (!request.unread_texts.empty()) {
    for (row_layout::column& column : layout_.columns)
      column.is_unread = column.attribute != row_layout::not_read && request.unread_texts[column.attribute];
  }
  layout_.wide = request.structured.wide;
  layout_.memory = request.memory;
  if (!request.structured.structures.empty()) layout_.structured = &request.structured;
}

void text_loading::finish() {
  pieces_.clear();
  stream_.reset();
  source_.reset();
  mapped_.reset();
  file_.seconds = storage::seconds_now() - file_.begin;
}

// ---- Text that is in memory as a whole ----

void text_loading::cut_text(std::string_view text) {
  std::uint64_t first_line = 1;
  if (has_headers_) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    ++first_line;
  }
  if (layout_.rfc4180) {
    cut_rows(text, first_line);
  } else {
    cut_lines(text, first_line);
  }
}

/// Cuts small texts so that each thread has a share.
std::size_t text_loading::bytes_of_piece(std::size_t text) const {
  const std::size_t most = std::max<std::size_t>(file_.request.piece_bytes, 1);
  if (load_.threads == 1) return most;
  return std::min(most, std::max(least_piece_bytes, text / (pieces_per_thread * load_.threads)));
}

void text_loading::cut_lines(std::string_view text, std::uint64_t first_line) {
  const std::size_t bytes = bytes_of_piece(text.size());
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t nominal_end = begin + bytes;
    std::size_t end = text.size();
    if (nominal_end < text.size()) end = std::min(text.find('\n', nominal_end - 1), text.size() - 1) + 1;
    piece& next = pieces_.emplace_back();
    next.text.text = text.substr(begin, end - begin);
    next.offset = begin;
    begin = end;
  }
  const auto count = [this](std::size_t number) {
    const row_count found = count_rows(pieces_[number].text.text, layout_, true);
    pieces_[number].rows = found.rows;
    pieces_[number].lines = found.lines;
  };
  load_.queue.add_all(pieces_.size(), count, [this, line = first_line]() mutable {
    for (piece& each : pieces_) {
      each.text.first_line = line;
      line += each.lines;
    }
    parse_text();
  });
}

/// Cuts rows sequentially: whether a line break ends a row depends on the quotes before the break.
void text_loading::cut_rows(std::string_view text, std::uint64_t first_line) {
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t window = std::max<std::size_t>(file_.request.piece_bytes, 1);
    row_count count;
    while (count.whole_bytes == 0) {
      count = count_rows(text.substr(begin, window), layout_, window >= text.size() - begin);
      window *= 2;
    }
    piece& next = pieces_.emplace_back();
    next.text = {text.substr(begin, count.whole_bytes), first_line};
    next.offset = begin;
    next.rows = count.rows;
    begin += count.whole_bytes;
    first_line += count.lines;
  }
  parse_text();
}

void text_loading::parse_text() {
  guarded([&] { allocate(); });
  const auto parse_piece = [this](std::size_t number) {
    guarded([&] {
      piece& here = pieces_[number];
      std::vector<word*> columns = columns_;
      for (word*& column : columns) column += here.first_row;
      here.problems = parse(here, columns);
    });
  };
  load_.queue.add_all(file_.rows == 0 ? 0 : pieces_.size(), parse_piece, [this] {
    guarded([&] { require_rows(false); });
    finish();
  });
}

// ---- Text that comes piece by piece ----

/// Returns false at the end of the stream, and if enough rows are faulty.
bool text_loading::read_piece() {
  if (problems_ >= row_problems::most_shown || number_ > load_.first_failed) return false;
  auto next = stream_->next();
  if (!next) return false;
  piece& here = pieces_.emplace_back();
  here.memory = std::move(next->memory);
  here.text = {next->text, next->first_line};
  here.offset = read_bytes_;
  here.rows = next->rows;
  read_bytes_ += next->text.size();
  ++unended_;
  const auto parse_here = [this, &here] {
    guarded([&] { parse_streamed(here); });
    end_piece();
  };
  load_.queue.add(parse_here, here.text.text.size());
  return true;
}

void text_loading::parse_streamed(piece& here) {
  here.words = backend::array<word>(*file_.request.memory, here.rows * layout_.arity, backend::fresh_memory::anything);
  std::vector<word*> columns;
  for (std::size_t column = 0; column < layout_.arity; ++column) {
    columns.push_back(here.words.data() + column * here.rows);
  }
  here.problems = parse(here, columns);
  here.memory = byte_buffer();
  problems_ += here.problems.count;
}

/// The last piece, or the stream if it ends later, gathers the rows of all pieces.
void text_loading::end_piece() {
  if (--unended_ > 0) return;
  guarded([&] {
    require_rows(true);
    if (stream_->failed()) refuse(fmt::format("{} in line {}", stream_->failed()->what, stream_->failed()->line));
    allocate();
  });
  gather();
}

void text_loading::gather() {
  const auto copy_piece = [this](std::size_t number) {
    guarded([&] {
      piece& here = pieces_[number];
      const word* from = here.words.data();
      for (word* const column : columns_) {
        std::copy_n(from, here.rows, column + here.first_row);
        from += here.rows;
      }
      here.words.release();  // limits the rows that are in memory twice
    });
  };
  load_.queue.add_all(file_.rows == 0 ? 0 : pieces_.size(), copy_piece, [this] { finish(); });
}

// ---- Both ----

void text_loading::allocate() {
  std::uint64_t rows = 0;
  for (piece& each : pieces_) {
    each.first_row = rows;
    rows += each.rows;
  }
  if (rows == 0) return;
  const std::lock_guard lock(load_.callbacks);
  columns_ = file_.allocate(rows);
  file_.rows = rows;
}

row_problems text_loading::parse(const piece& here, const std::vector<word*>& columns) {
  if (load_.order == nullptr || !layout_.has_symbols) return parse_rows(here.text, layout_, columns, load_.symbols);
  return parse_rows(here.text, layout_, columns, load_.order->add_part((number_ << offset_bits) + here.offset));
}

/// Reports the problems in the order of the text. Of a stream, only the pieces up to the last line that is shown count:
/// whether later pieces were read depends on timing.
/// @throws user_error
void text_loading::require_rows(bool is_stream) {
  row_problems all;
  for (piece& each : pieces_) {
    if (is_stream && all.count >= row_problems::most_shown) break;
    all.append(std::move(each.problems));
  }
  if (all.empty()) return;
  all.is_all = all.is_all && !(is_stream && all.count >= row_problems::most_shown);
  std::string text = all.text();
  if (begins_with_mark_ && all.first.front().what.ends_with(fmt::format(" in line {}", has_headers_ ? 2 : 1))) {
    text += "\nThe file begins with a byte order mark of UTF-8, which is part of its first value";
  }
  refuse(text);
}

}  // namespace gpulog::io
