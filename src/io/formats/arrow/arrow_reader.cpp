#include "io/formats/arrow/arrow_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "io/fact_source.hpp"
#include "io/facts_reader.hpp"
#include "io/formats/arrow/arrow_columns.hpp"
#include "io/formats/arrow/arrow_library.hpp"
#include "io/formats/text/row_layout.hpp"
#include "io/row_problems.hpp"
#include "io/symbol_queue.hpp"
#include "io/task_runner.hpp"
#include "io/values/stored_numbers.hpp"
#include "io/values/value_text.hpp"
#include "support/error.hpp"

namespace gpulog::io {
namespace {

/// Rows that a thread converts at a time.
constexpr std::uint64_t batch_piece_rows = 65536;
void check(ArrowArrayStream& stream, int result) {
  if (result == 0) return;
  const char* const reason = stream.get_last_error(&stream);
  throw user_error(reason == nullptr ? std::strerror(result) : reason);
}

/// Returns the column of the file for each attribute.
std::vector<std::size_t> source_columns(const ArrowSchema& table, const read_request& request) {
  const auto count = static_cast<std::size_t>(table.n_children);
  std::vector<std::size_t> sources;
  for (const std::string& attribute : request.attribute_names) {
    for (std::size_t column = 0; column < count; ++column) {
      const char* const name = table.children[column]->name;
      if (name == nullptr || attribute != name) continue;
      sources.push_back(column);
      break;
    }
  }
  const directive_parameters parameters(request.parameters);
  const bool all_named = !sources.empty() && sources.size() == request.kinds.size();
  if (all_named && !parameters.has("columns")) return sources;
  const row_layout layout = make_row_layout(parameters, request.kinds);
  sources.assign(request.kinds.size(), 0);
  if (layout.columns.size() > count) {
    throw user_error(fmt::format("{} columns instead of {}", count, layout.columns.size()));
  }
  for (std::size_t column = 0; column < layout.columns.size(); ++column) {
    if (layout.columns[column].attribute != row_layout::not_read) sources[layout.columns[column].attribute] = column;
  }
  return sources;
}

bool is_text(arrow_type type) {
  return type == arrow_type::text || type == arrow_type::long_text || type == arrow_type::text_view;
}

void check_type(const ArrowSchema& column, std::size_t number) {
  const ArrowSchema& values = column.dictionary == nullptr ? column : *column.dictionary;
  const bool nested = values.dictionary != nullptr;
  const bool readable_index = column.dictionary == nullptr || !is_text(arrow_type_of(column.format));
  if (!nested && readable_index && arrow_type_of(values.format) != arrow_type::unsupported) return;
  throw user_error(fmt::format("Column {} ({}) has a type that is not read: {}", number + 1,
                               column.name == nullptr ? "" : column.name, values.format));
}

/// Rows of a batch that a thread converts.
struct batch_piece {
  std::size_t batch;
  std::uint64_t first;  ///< within the batch
  std::uint64_t rows;
  std::uint64_t target;  ///< first row of the part among all rows
};

class arrow_loader {
 public:
  arrow_loader(ArrowArrayStream& stream, const read_request& request, storage::symbol_table& symbols)
      : stream_(stream), request_(request), symbols_(symbols), run_(request.threads) {}

  std::uint64_t load(const row_allocator& allocate) {
    check(stream_, stream_.get_schema(&stream_, schema_.get()));
    if (std::string_view(schema_->format) != "+s") throw user_error("Not a table");
    sources_ = source_columns(*schema_.get(), request_);
    for (const std::size_t source : sources_) check_type(*schema_->children[source], source);
    std::uint64_t rows = read_batches();
    if (rows == 0) return 0;
    columns_ = allocate(rows);
    const bool has_structures = std::any_of(request_.kinds.begin(), request_.kinds.end(), is_structured);
    const bool has_symbols =
        std::find(request_.kinds.begin(), request_.kinds.end(), value_kind::symbol) != request_.kinds.end();
    if (has_structures || run_.threads() == 1) {
      row_problems problems;
      for (const batch_piece& part : pieces_) problems.append(convert(part, immediate_interner(symbols_)));
      refuse(problems);
    } else if (has_symbols) {
      convert_on_threads();
    } else {
      convert_each([&](std::size_t number) { return convert(pieces_[number], immediate_interner(symbols_)); });
    }
    return rows;
  }

 private:
  std::uint64_t read_batches() {
    std::uint64_t rows = 0;
    while (true) {
      arrow_owned<ArrowArray> batch;
      check(stream_, stream_.get_next(&stream_, batch.get()));
      if (batch->release == nullptr) return rows;
      const auto length = static_cast<std::uint64_t>(batch->length);
      for (std::uint64_t first = 0; first < length; first += batch_piece_rows) {
        pieces_.push_back({batches_.size(), first, std::min(batch_piece_rows, length - first), rows + first});
      }
      rows += length;
      batches_.push_back(std::move(batch));
    }
  }

  void convert_on_threads() {
    storage::ordered_interning load(symbols_);
    convert_each([&](std::size_t number) {
      const batch_piece& here = pieces_[number];
      return convert(here, ordered_interner(load.add_part(here.target * columns_.size())));
    });
    load.finish(std::ref(run_));
    if (!load.has_replaced()) return;
    run_(pieces_.size(), [&](std::size_t number) {
      for (std::size_t attribute = 0; attribute < columns_.size(); ++attribute) {
        if (request_.kinds[attribute] != value_kind::symbol) continue;
        load.resolve(columns_[attribute] + pieces_[number].target, pieces_[number].rows);
      }
    });
  }

  /// Throws the problems of all rows, in row order.
  template <class Convert>
  void convert_each(const Convert& convert_piece) {
    std::vector<row_problems> problems(pieces_.size());
    run_(pieces_.size(), [&](std::size_t number) { problems[number] = convert_piece(number); });
    row_problems all;
    for (row_problems& one : problems) all.append(std::move(one));
    refuse(all);
  }

  static void refuse(const row_problems& problems) {
    if (!problems.empty()) throw user_error(problems.text());
  }

  /// Reads rows in order and the columns of a row from left to right, as symbols are numbered; columns without symbols
  /// are read one by one.
  template <class Interner>
  row_problems convert(const batch_piece& part, Interner interner) {
    const ArrowArray& batch = *batches_[part.batch].get();
    std::vector<std::pair<std::size_t, arrow_column>> row_by_row;
    for (std::size_t attribute = 0; attribute < sources_.size(); ++attribute) {
      const std::size_t source = sources_[attribute];
      const arrow_column values(*schema_->children[source], *batch.children[source],
                                batch.offset + static_cast<std::int64_t>(part.first));
      if (copied(attribute, values, part)) continue;
      row_by_row.emplace_back(attribute, values);
    }
    symbol_queue<Interner> symbols(interner);
    row_problems problems;
    for (std::uint64_t row = 0; row < part.rows; ++row) {
      for (const auto& [attribute, values] : row_by_row) {
        const arrow_value value = values.at(row);
        if (store(attribute, value, symbols, columns_[attribute][part.target + row])) continue;
        problems.add([&, number = attribute] { return problem(value, number, part.target + row); });
        break;
      }
    }
    symbols.flush();
    return problems;
  }

  /// Columns whose words equal the file's values.
  bool copied(std::size_t attribute, const arrow_column& values, const batch_piece& part) {
    if (request_.structured.wide != nullptr) return false;
    word* const target = columns_[attribute] + part.target;
    const value_kind kind = request_.kinds[attribute];
    if (kind == value_kind::number) {
      if (const auto* all = values.all<std::int32_t>(arrow_type::int32)) {
        std::transform(all, all + part.rows, target, [](std::int32_t value) { return static_cast<word>(value); });
        return true;
      }
    } else if (kind == value_kind::unsigned_number) {
      if (const auto* all = values.all<word>(arrow_type::uint32)) {
        std::copy(all, all + part.rows, target);
        return true;
      }
    }
    return false;
  }

  /// Returns false if the value does not have the attribute's type. Symbols are stored when the queue is flushed.
  template <class Interner>
  bool store(std::size_t attribute, const arrow_value& value, symbol_queue<Interner>& symbols, word& target) {
    const value_kind kind = request_.kinds[attribute];
    storage::wide_values* const wide = request_.structured.wide;
    if (std::holds_alternative<std::monostate>(value)) return false;
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      if (kind == value_kind::symbol) {
        symbols.add(*text, target);
        return true;
      }
      if (!is_structured(kind)) return parse_value(*text, kind, wide, target);
      symbols.flush();  // numbers the symbols inside the value now
      const value_type type = request_.structured.type_of(attribute, kind);
      return parse_structured(*text, type, request_.structured, symbols_, target);
    }
    if (kind == value_kind::symbol) {
      const std::string text = shown(value);
      symbols.add_unquoted(text, target);
      return true;
    }
    if (is_structured(kind)) return false;
    const std::optional<word> converted = std::visit(
        [&](const auto& number) -> std::optional<word> {
          if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(number)>>) {
            if (kind == value_kind::floating) return float_word(static_cast<double>(number), wide);
            return integer_word(number, kind, wide);
          } else {
            return std::nullopt;
          }
        },
        value);
    target = converted.value_or(0);
    return converted.has_value();
  }

  static std::string shown(const arrow_value& value) {
    return std::visit(
        [](const auto& stored) -> std::string {
          using type = std::remove_cvref_t<decltype(stored)>;
          if constexpr (std::is_same_v<type, std::monostate>) {
            return "NULL";
          } else if constexpr (std::is_arithmetic_v<type>) {
            char text[longest_number];
            return {text, print_number(text, stored)};
          } else {
            return std::string(stored);
          }
        },
        value);
  }

  [[nodiscard]] row_problem problem(const arrow_value& value, std::size_t attribute, std::uint64_t row) const {
    const std::size_t column = sources_[attribute];
    if (std::holds_alternative<std::monostate>(value)) {
      return {fmt::format("Error converting NULL in column {} in row {}", column + 1, row + 1)};
    }
    return conversion_problem(shown(value), request_.kinds[attribute], column, fmt::format("row {}", row + 1),
                              request_.structured.wide != nullptr);
  }

  ArrowArrayStream& stream_;
  const read_request& request_;
  storage::symbol_table& symbols_;
  task_runner run_;
  arrow_owned<ArrowSchema> schema_;
  std::vector<std::size_t> sources_;
  std::vector<arrow_owned<ArrowArray>> batches_;
  std::vector<batch_piece> pieces_;
  std::vector<word*> columns_;
};

}  // namespace

std::uint64_t read_arrow_rows(ArrowArrayStream& stream, const read_request& request, storage::symbol_table& symbols,
                              const row_allocator& allocate) {
  return arrow_loader(stream, request, symbols).load(allocate);
}

template <arrow_format Format>
std::uint64_t read_arrow(const read_request& request, storage::symbol_table& symbols, const row_allocator& allocate) {
  const std::string extension = Format == arrow_format::parquet ? ".parquet" : ".arrow";
  const std::optional<fact_source> source = fact_source::open_file(request, extension);
  if (!source) return 0;
  const std::string name =
      directive_parameters(request.parameters).text("filename", fmt::format("{}{}", request.relation, extension));
  try {
    arrow_owned<ArrowArrayStream> stream;
    open_arrow_file(request.fact_directory / name, Format, request.threads, stream);
    return read_arrow_rows(*stream.get(), request, symbols, allocate);
  } catch (const user_error& problem) {
    fact_source::refuse(problem.what(), source->name());
  }
}

template std::uint64_t read_arrow<arrow_format::parquet>(const read_request&, storage::symbol_table&,
                                                         const row_allocator&);
template std::uint64_t read_arrow<arrow_format::arrow>(const read_request&, storage::symbol_table&,
                                                       const row_allocator&);

}  // namespace gpulog::io
