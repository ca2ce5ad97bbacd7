#include "io/formats/text/text_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>

#include "io/directive_parameters.hpp"
#include "io/fact_source.hpp"
#include "io/files/byte_source.hpp"
#include "io/formats/text/row_layout.hpp"
#include "io/formats/text/row_parser.hpp"
#include "io/formats/text/text_stream.hpp"
#include "io/task_runner.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

/// Pieces per thread in a round of interning: enough to share the work, and few enough that new texts of a round are
/// soon in the table.
constexpr std::size_t pieces_per_thread = 4;

/// A piece of text, and the destination of its rows.
struct loading_piece {
  text_piece text;
  std::uint64_t rows = 0;
  std::vector<word*> columns;
};

/// Parsed rows of some pieces before all rows are allocated: piece by piece, column by column.
struct parsed_rows {
  backend::array<word> words;
  std::vector<std::uint64_t> rows;  // by piece
};

class facts_loader {
 public:
  facts_loader(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate)
      : request_(request),
        symbols_(symbols),
        allocate_(allocate),
        parameters_(request.parameters),
        layout_(make_row_layout(parameters_, request.kinds)),
        has_headers_(parameters_.flag("headers")),
        run_(request.structured.structures.empty() ? request.threads : 1) {
    layout_.wide = request.structured.wide;
    layout_.memory = request.memory;
    if (!request.structured.structures.empty()) layout_.structured = &request.structured;
  }

  std::uint64_t load(fact_source source) {
    source_name_ = source.name();
    begins_with_mark_ = source.begins_with_mark();
    try {
      if (source.is_whole_file() && !source.compressed()) return load_text(source.map()->bytes());
      const bool ahead = source.is_whole_file();
      return load_stream(*source.stream(), ahead);
    } catch (const read_failure& problem) {
      refuse(problem.what());
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { fact_source::refuse(what, source_name_); }

  // ---- Text that is in memory as a whole ----

  std::uint64_t load_text(std::string_view text) {
    std::uint64_t first_line = 1;
    if (has_headers_) {
      text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
      ++first_line;
    }
    std::vector<loading_piece> pieces = layout_.rfc4180 ? cut_rows(text, first_line) : cut_lines(text, first_line);
    std::uint64_t rows = 0;
    for (const loading_piece& piece : pieces) rows += piece.rows;
    if (rows == 0) return 0;
    const std::vector<word*> columns = allocate_(rows);
    std::uint64_t row = 0;
    for (loading_piece& piece : pieces) {
      for (word* column : columns) piece.columns.push_back(column + row);
      row += piece.rows;
    }
    behind_last_piece_ = pieces.data() + pieces.size();
    const std::size_t round = layout_.has_symbols ? pieces_per_thread * run_.threads() : pieces.size();
    for (std::size_t begin = 0; begin < pieces.size(); begin += round) {
      parse(std::span(pieces).subspan(begin, std::min(round, pieces.size() - begin)));
    }
    return rows;
  }

  /// Cuts small texts so that each thread has a share.
  [[nodiscard]] std::size_t bytes_of_piece(std::size_t text) const {
    constexpr std::size_t least = std::size_t{1} << 16;  // parsing takes longer than starting a thread
    const std::size_t most = std::max<std::size_t>(request_.piece_bytes, 1);
    if (run_.threads() == 1) return most;
    return std::min(most, std::max(least, text / (pieces_per_thread * run_.threads())));
  }

  std::vector<loading_piece> cut_lines(std::string_view text, std::uint64_t first_line) {
    std::vector<loading_piece> pieces;
    const std::size_t bytes = bytes_of_piece(text.size());
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t nominal_end = begin + bytes;
      std::size_t end = text.size();
      if (nominal_end < text.size()) end = std::min(text.find('\n', nominal_end - 1), text.size() - 1) + 1;
      pieces.push_back({{text.substr(begin, end - begin), 0}, 0, {}});
      begin = end;
    }
    std::vector<std::uint64_t> lines(pieces.size());
    run_(pieces.size(), [&](std::size_t number) {
      const row_count count = count_rows(pieces[number].text.text, layout_, true);
      pieces[number].rows = count.rows;
      lines[number] = count.lines;
    });
    for (std::size_t number = 0; number < pieces.size(); ++number) {
      pieces[number].text.first_line = first_line;
      first_line += lines[number];
    }
    return pieces;
  }

  /// Cuts rows sequentially: whether a line break ends a row depends on the quotes before the break.
  std::vector<loading_piece> cut_rows(std::string_view text, std::uint64_t line) const {
    std::vector<loading_piece> pieces;
    for (std::size_t begin = 0; begin < text.size();) {
      std::size_t window = std::max<std::size_t>(request_.piece_bytes, 1);
      row_count count;
      while (count.whole_bytes == 0) {
        count = count_rows(text.substr(begin, window), layout_, window >= text.size() - begin);
        window *= 2;
      }
      pieces.push_back({{text.substr(begin, count.whole_bytes), line}, count.rows, {}});
      begin += count.whole_bytes;
      line += count.lines;
    }
    return pieces;
  }

  // ---- Text that comes piece by piece ----

  std::uint64_t load_stream(byte_source& source, bool ahead) {
    text_stream stream(source, layout_, has_headers_, request_.piece_bytes, *request_.memory);
    const std::size_t round = pieces_per_thread * run_.threads();
    std::vector<parsed_rows> parsed;
    if (ahead && run_.threads() > 1) {
      read_ahead pieces(stream, round);
      for (std::deque<stream_piece> taken = pieces.take(); !taken.empty(); taken = pieces.take()) parse(taken, parsed);
    } else {
      std::deque<stream_piece> taken;
      while (auto piece = stream.next()) {
        taken.push_back(std::move(*piece));
        if (taken.size() == round) parse(taken, parsed);
      }
      parse(taken, parsed);
    }
    if (stream.failed()) refuse(fmt::format("{} in line {}", stream.failed()->what, stream.failed()->line));
    return gather(parsed);
  }

  void parse(std::deque<stream_piece>& taken, std::vector<parsed_rows>& parsed) {
    parsed_rows& rows_of_piece = parsed.emplace_back();
    for (const stream_piece& piece : taken) rows_of_piece.rows.push_back(piece.rows);
    const std::uint64_t rows = std::accumulate(rows_of_piece.rows.begin(), rows_of_piece.rows.end(), std::uint64_t{0});
    rows_of_piece.words = backend::array<word>(*request_.memory, rows * layout_.arity, backend::fresh_memory::anything);
    word* next = rows_of_piece.words.data();
    std::vector<loading_piece> pieces;
    for (const stream_piece& piece : taken) {
      loading_piece& loading = pieces.emplace_back();
      loading.text = {piece.text, piece.first_line};
      loading.rows = piece.rows;
      for (std::size_t column = 0; column < layout_.arity; ++column, next += piece.rows) {
        loading.columns.push_back(next);
      }
    }
    parse(pieces);
    taken.clear();
  }

  std::uint64_t gather(std::vector<parsed_rows>& parsed) {
    std::uint64_t rows = 0;
    for (const parsed_rows& some : parsed) rows = std::accumulate(some.rows.begin(), some.rows.end(), rows);
    if (rows == 0) return 0;
    const std::vector<word*> columns = allocate_(rows);
    std::uint64_t done = 0;
    for (parsed_rows& some : parsed) {
      std::vector<std::uint64_t> begin{0};
      for (const std::uint64_t piece : some.rows) begin.push_back(begin.back() + piece);
      run_(some.rows.size(), [&](std::size_t number) {
        const word* from = some.words.data() + begin[number] * layout_.arity;
        for (word* const column : columns) {
          std::copy_n(from, some.rows[number], column + done + begin[number]);
          from += some.rows[number];
        }
      });
      done += begin.back();
      some.words.release();  // limits the rows that are in memory twice
    }
    return rows;
  }

  // ---- Parsing ----

  void parse(std::span<loading_piece> pieces) {
    if (pieces.size() > 1 && run_.threads() > 1 && layout_.has_symbols) {
      parse_with_bulk_interning(pieces);
    } else {
      parse_each(pieces, [&](std::size_t number) {
        const loading_piece& piece = pieces[number];
        return parse_rows(piece.text, layout_, piece.columns, symbols_);
      });
    }
  }

  void parse_with_bulk_interning(std::span<loading_piece> pieces) {
    storage::bulk_interning load(symbols_, pieces.size());
    std::vector<unquoted_texts> unquoted(pieces.size());
    parse_each(pieces, [&](std::size_t number) {
      const loading_piece& piece = pieces[number];
      return parse_rows(piece.text, layout_, piece.columns, load[number], unquoted[number]);
    });
    const storage::parallel_runner runner = std::ref(run_);
    load.finish(runner);
    run_(pieces.size(), [&](std::size_t number) {
      if (!load[number].has_marks()) return;
      for (const row_layout::column& column : layout_.columns) {
        if (column.attribute == row_layout::not_read || column.kind != value_kind::symbol) continue;
        word* values = pieces[number].columns[column.attribute];
        for (std::uint64_t row = 0; row < pieces[number].rows; ++row) values[row] = load[number].resolve(values[row]);
      }
    });
  }

  /// Reports the problems in the order of the text.
  template <class ParsePiece>
  void parse_each(std::span<loading_piece> pieces, const ParsePiece& parse_piece) {
    std::vector<row_problems> problems(pieces.size());
    run_(pieces.size(), [&](std::size_t number) { problems[number] = parse_piece(number); });
    row_problems all;
    for (row_problems& one : problems) all.append(std::move(one));
    if (all.empty()) return;
    all.is_all = all.is_all && pieces.data() + pieces.size() == behind_last_piece_;
    refuse_rows(all);
  }

  [[noreturn]] void refuse_rows(const row_problems& problems) const {
    std::string text = problems.text();
    if (begins_with_mark_ && problems.first.front().what.ends_with(fmt::format(" in line {}", has_headers_ ? 2 : 1))) {
      text += "\nThe file begins with a byte order mark of UTF-8, which is part of its first value";
    }
    refuse(text);
  }

  const read_request& request_;
  storage::symbol_table& symbols_;
  const row_allocator& allocate_;
  directive_parameters parameters_;
  row_layout layout_;
  bool has_headers_;
  task_runner run_;
  std::string source_name_;
  bool begins_with_mark_ = false;
  /// For a text that is in memory as a whole.
  const loading_piece* behind_last_piece_ = nullptr;
};

}  // namespace

std::uint64_t read_text_file(const read_request& request, storage::symbol_table& symbols,
                             const row_allocator& allocate) {
  std::optional<fact_source> source = fact_source::open_text_file(request, ".facts");
  return source ? facts_loader(request, symbols, allocate).load(std::move(*source)) : 0;
}

std::uint64_t read_text_from_standard_input(const read_request& request, storage::symbol_table& symbols,
                                            const row_allocator& allocate) {
  return facts_loader(request, symbols, allocate).load(fact_source::standard_input());
}

}  // namespace gpulog::io
