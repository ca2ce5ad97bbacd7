#include "io/facts_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "io/byte_source.hpp"
#include "io/directive_parameters.hpp"
#include "io/row_layout.hpp"
#include "io/row_parser.hpp"
#include "io/task_runner.hpp"
#include "io/text_stream.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

/// Pieces that each thread has in one round of interning: enough to share the work, few enough that what the round
/// finds new is soon in the table.
constexpr std::size_t pieces_per_thread = 4;

/// A piece of text, and where its rows go.
struct loading_piece {
  text_piece text;
  std::uint64_t rows = 0;
  std::vector<word*> columns;
};

/// The rows of a piece before the place for all rows is known: one column after the other.
struct parsed_rows {
  std::unique_ptr<word[]> words;
  std::uint64_t rows = 0;
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
        run_(request.threads) {}

  std::uint64_t load_file() {
    const std::string name = parameters_.text("filename", request_.relation + ".facts");
    source_name_ = "fact file " + name;
    const std::filesystem::path path = request_.fact_directory / name;
    const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (number < 0) {
      if (errno == ENOENT && request_.missing_is_empty) return 0;
      refuse_to_open(errno);
    }
    return load(file_descriptor(number));
  }

  std::uint64_t load_standard_input() {
    source_name_ = "standard input";
    return load(file_descriptor(STDIN_FILENO));
  }

 private:
  [[noreturn]] void refuse_to_open(int reason) const {
    throw user_error(fmt::format("Cannot open {}{}{}", source_name_, reason == ENOENT ? "" : ": ",
                                 reason == ENOENT ? "" : std::strerror(reason)));
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw user_error(fmt::format("{}; cannot parse {}!", what, source_name_));
  }

  std::uint64_t load(file_descriptor descriptor) {
    struct stat status {};
    if (::fstat(descriptor.number(), &status) != 0) refuse_to_open(errno);
    if (S_ISDIR(status.st_mode)) refuse_to_open(EISDIR);
    try {
      // Standard input may have been read in part by an earlier directive.
      const bool from_start = S_ISREG(status.st_mode) && descriptor.number() != STDIN_FILENO;
      std::string first_bytes = read_first_bytes(descriptor);
      const bool compressed = is_gzip(first_bytes);
      if (from_start && !compressed && status.st_size > 0) {
        const mapped_file file(descriptor, static_cast<std::size_t>(status.st_size));
        return load_text(file.bytes());
      }
      auto plain = std::make_unique<descriptor_source>(std::move(descriptor), std::move(first_bytes));
      if (!compressed) return load_stream(*plain, false);
      gzip_source source(std::move(plain));
      return load_stream(source, from_start);
    } catch (const read_failure& problem) {
      refuse(problem.what());
    }
  }

  static std::string read_first_bytes(const file_descriptor& descriptor) {
    std::array<char, 2> bytes{};
    std::size_t size = 0;
    while (size < bytes.size()) {
      const ssize_t count = ::read(descriptor.number(), bytes.data() + size, bytes.size() - size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw read_failure(std::strerror(errno));
      if (count == 0) break;
      size += static_cast<std::size_t>(count);
    }
    return {bytes.data(), size};
  }

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
    const std::size_t round = layout_.has_symbols ? pieces_per_thread * run_.threads() : pieces.size();
    for (std::size_t begin = 0; begin < pieces.size(); begin += round) {
      parse(std::span(pieces).subspan(begin, std::min(round, pieces.size() - begin)));
    }
    return rows;
  }

  std::vector<loading_piece> cut_lines(std::string_view text, std::uint64_t first_line) {
    std::vector<loading_piece> pieces;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t nominal_end = begin + std::max<std::size_t>(request_.piece_bytes, 1);
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

  /// One after the other, since whether a line break ends a row depends on the quotes before it.
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
    text_stream stream(source, layout_, has_headers_, request_.piece_bytes);
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
    std::vector<loading_piece> pieces;
    for (const stream_piece& piece : taken) {
      parsed_rows& own = parsed.emplace_back();
      own.rows = piece.rows;
      own.words = std::make_unique_for_overwrite<word[]>(piece.rows * layout_.arity);
      loading_piece& loading = pieces.emplace_back();
      loading.text = {piece.text, piece.first_line};
      loading.rows = piece.rows;
      for (std::size_t column = 0; column < layout_.arity; ++column) {
        loading.columns.push_back(own.words.get() + column * piece.rows);
      }
    }
    parse(pieces);
    taken.clear();
  }

  std::uint64_t gather(const std::vector<parsed_rows>& parsed) {
    std::vector<std::uint64_t> begin{0};
    for (const parsed_rows& piece : parsed) begin.push_back(begin.back() + piece.rows);
    const std::uint64_t rows = begin.back();
    if (rows == 0) return 0;
    const std::vector<word*> columns = allocate_(rows);
    run_(parsed.size(), [&](std::size_t number) {
      const parsed_rows& piece = parsed[number];
      for (std::size_t column = 0; column < columns.size(); ++column) {
        std::copy_n(piece.words.get() + column * piece.rows, piece.rows, columns[column] + begin[number]);
      }
    });
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

  /// Reports the first problem in the order of the text, without parsing far behind it.
  template <class ParsePiece>
  void parse_each(std::span<loading_piece> pieces, const ParsePiece& parse_piece) {
    std::vector<std::optional<row_problem>> problems(pieces.size());
    std::atomic<std::size_t> first_problem{pieces.size()};
    run_(pieces.size(), [&](std::size_t number) {
      if (number > first_problem.load(std::memory_order_relaxed)) return;
      problems[number] = parse_piece(number);
      if (!problems[number]) return;
      std::size_t known = first_problem.load(std::memory_order_relaxed);
      while (number < known && !first_problem.compare_exchange_weak(known, number)) {
      }
    });
    if (first_problem < pieces.size()) refuse(problems[first_problem]->what);
  }

  const read_request& request_;
  storage::symbol_table& symbols_;
  const row_allocator& allocate_;
  directive_parameters parameters_;
  row_layout layout_;
  bool has_headers_;
  task_runner run_;
  std::string source_name_;
};

std::uint64_t read_by_kind(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate) {
  const std::string kind = directive_parameters(request.parameters).text("IO", "file");
  if (kind == "file") return facts_loader(request, symbols, allocate).load_file();
  if (kind == "stdin") return facts_loader(request, symbols, allocate).load_standard_input();
  throw user_error(fmt::format("Requested input type <{}> is not supported.", kind));
}

}  // namespace

std::uint64_t read_facts(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate) {
  try {
    return read_by_kind(request, symbols, allocate);
  } catch (const user_error& problem) {
    throw user_error(fmt::format("Error loading {} data: {}", request.relation, problem.what()));
  }
}

}  // namespace gpulog::io
