#include <fmt/core.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/c_options.hpp"
#include "gpulog.h"
#include "gpulog/engine.hpp"

/// The C interface over the C++ interface.

struct gpulog_program {
  gpulog::program program;
};

struct gpulog_engine {
  gpulog_engine(const gpulog::program& source, gpulog::run_options options)
      : engine(source, [&] {
          options.cancelled = &is_cancelled;
          return std::move(options);
        }()) {}
  std::atomic<bool> is_cancelled = false;
  gpulog::engine engine;
};

struct gpulog_rows {
  /// A column that was read, with the texts that C reads.
  struct read_column {
    gpulog::host_column column;
    std::vector<std::string> made;  ///< texts with final zero bytes
    std::vector<gpulog_text> texts;
  };
  std::variant<gpulog::relation, gpulog::answer> rows;
  std::vector<gpulog::attribute> attributes;
  std::deque<std::optional<read_column>> columns;
};

namespace gpulog {
namespace {

std::string& last_message() {
  thread_local std::string message;
  return message;
}

gpulog_status failed(gpulog_status status, const char* message) {
  last_message() = message;
  return status;
}

/// Calls a function and translates its exceptions.
template <class Work>
gpulog_status answered(const Work& work) {
  try {
    work();
    return GPULOG_OK;
  } catch (const query_error& problem) {
    return failed(GPULOG_PROGRAM_ERROR, problem.what());
  } catch (const input_error& problem) {
    return failed(GPULOG_INPUT_ERROR, problem.what());
  } catch (const output_error& problem) {
    return failed(GPULOG_OUTPUT_ERROR, problem.what());
  } catch (const evaluation_error& problem) {
    return failed(GPULOG_EVALUATION_ERROR, problem.what());
  } catch (const memory_limit_error& problem) {
    return failed(GPULOG_MEMORY_ERROR, problem.what());
  } catch (const std::bad_alloc&) {
    return failed(GPULOG_MEMORY_ERROR, "the machine has too little memory");
  } catch (const cancelled_error& problem) {
    return failed(GPULOG_CANCELLED, problem.what());
  } catch (const std::exception& problem) {
    return failed(GPULOG_OTHER_ERROR, problem.what());
  }
}

/// Runs a call of an engine that gpulog_cancel() may end.
template <class Work>
gpulog_status run(gpulog_engine& engine, const Work& work) {
  const gpulog_status status = answered([&] { work(engine.engine); });
  engine.is_cancelled = false;
  return status;
}

template <class Read>
gpulog_status read_program(const char* const* options, gpulog_program** made, const Read& read) {
  *made = nullptr;
  return answered([&] {
    program source = read(detail::c_options(options).compile);
    if (!source.ok()) throw query_error(source.report(), source.diagnostics());
    *made = new gpulog_program{std::move(source)};
  });
}

template <class Value>
std::span<const Value> values_of(const gpulog_column& column, std::uint64_t rows) {
  return {static_cast<const Value*>(column.values), static_cast<std::size_t>(rows)};
}

/// A column of C as a column of C++.
typed_column typed(const gpulog_column& column, std::uint64_t rows, std::deque<std::vector<std::string_view>>& texts) {
  switch (column.type) {
    case GPULOG_INT32:
      return values_of<std::int32_t>(column, rows);
    case GPULOG_UINT32:
      return values_of<std::uint32_t>(column, rows);
    case GPULOG_FLOAT:
      return values_of<float>(column, rows);
    case GPULOG_INT64:
      return values_of<std::int64_t>(column, rows);
    case GPULOG_UINT64:
      return values_of<std::uint64_t>(column, rows);
    case GPULOG_DOUBLE:
      return values_of<double>(column, rows);
    case GPULOG_TEXT:
      break;
    default:
      throw input_error(fmt::format("there is no type of columns {}", static_cast<int>(column.type)));
  }
  std::vector<std::string_view>& made = texts.emplace_back();
  for (const gpulog_text& text : values_of<gpulog_text>(column, rows)) made.emplace_back(text.bytes, text.length);
  return std::span<const std::string_view>(made);
}

/// Calls change(relation, columns), or change(relation) `rows` times for a relation without attributes.
template <class Columns, class Nothing>
gpulog_status change(gpulog_engine* engine, const char* name, std::span<const gpulog_column> given, std::uint64_t rows,
                     const Columns& change_columns, const Nothing& change_nothing) {
  return answered([&] {
    relation target = engine->engine.relation(name);
    if (target.arity() == 0 && given.empty()) {
      if (rows != 0) change_nothing(target);
      return;
    }
    std::deque<std::vector<std::string_view>> texts;
    std::vector<typed_column> columns;
    for (const gpulog_column& column : given) columns.push_back(typed(column, rows, texts));
    change_columns(target, columns);
  });
}

template <class Value>
constexpr gpulog_type type_of = GPULOG_TEXT;
template <>
constexpr gpulog_type type_of<std::int32_t> = GPULOG_INT32;
template <>
constexpr gpulog_type type_of<std::uint32_t> = GPULOG_UINT32;
template <>
constexpr gpulog_type type_of<float> = GPULOG_FLOAT;
template <>
constexpr gpulog_type type_of<std::int64_t> = GPULOG_INT64;
template <>
constexpr gpulog_type type_of<std::uint64_t> = GPULOG_UINT64;
template <>
constexpr gpulog_type type_of<double> = GPULOG_DOUBLE;

/// Moves texts into a column.
void take_texts(std::vector<std::string> texts, gpulog_rows::read_column& into) {
  into.made = std::move(texts);
  for (const std::string& text : into.made) into.texts.push_back({text.c_str(), text.size()});
}

/// Returns the texts of records or branches as in a fact file.
std::vector<std::string> texts_of_structures(const gpulog_rows& rows, std::size_t column) {
  std::vector<std::string> texts;
  ArrowArrayStream stream;
  std::visit([&](const auto& shown) { shown.to_arrow(stream, {.binary = true}); }, rows.rows);
  const std::shared_ptr<ArrowArrayStream> owner(&stream, [](ArrowArrayStream* one) { one->release(one); });
  for (;;) {
    ArrowArray array;
    if (stream.get_next(&stream, &array) != 0) throw error(stream.get_last_error(&stream));
    if (array.release == nullptr) return texts;
    const std::shared_ptr<ArrowArray> piece(&array, [](ArrowArray* one) { one->release(one); });
    const ArrowArray& values = *array.children[column];
    const auto* const offsets = static_cast<const std::int64_t*>(values.buffers[1]);
    const auto* const bytes = static_cast<const char*>(values.buffers[2]);
    for (std::int64_t row = 0; row < array.length; ++row)
      texts.emplace_back(bytes + offsets[row], bytes + offsets[row + 1]);
  }
}

/// Reads a column and keeps it.
gpulog_column read_column(gpulog_rows& rows, std::size_t number) {
  if (number >= rows.columns.size()) throw input_error(fmt::format("there is no column {}", number));
  std::optional<gpulog_rows::read_column>& kept = rows.columns[number];
  if (!kept && !rows.attributes[number].structure.empty()) {
    take_texts(texts_of_structures(rows, number), kept.emplace());
  } else if (!kept) {
    host_column column = std::visit([number](const auto& shown) { return shown.column(number); }, rows.rows);
    kept.emplace();
    if (const auto* texts = std::get_if<std::span<const std::string_view>>(&column.values))
      take_texts({texts->begin(), texts->end()}, *kept);
    kept->column = std::move(column);
  }
  return std::visit(
      [&kept]<class Value>(std::span<const Value> values) {
        constexpr gpulog_type type = type_of<Value>;
        return type == GPULOG_TEXT ? gpulog_column{type, kept->texts.data()} : gpulog_column{type, values.data()};
      },
      rows.attributes[number].structure.empty() ? kept->column.values : typed_column(std::span<const value>()));
}

gpulog_rows* new_rows(std::variant<relation, answer> rows) {
  std::vector<attribute> attributes = std::visit([](const auto& shown) { return shown.attributes(); }, rows);
  const std::size_t width = attributes.size();
  return new gpulog_rows{std::move(rows), std::move(attributes),
                         std::deque<std::optional<gpulog_rows::read_column>>(width)};
}

}  // namespace
}  // namespace gpulog

using namespace gpulog;

const char* gpulog_version() {
  static const std::string text(version());
  return text.c_str();
}

const char* gpulog_message() { return last_message().c_str(); }

gpulog_status gpulog_program_from_text(const char* text, const char* const* options, gpulog_program** program) {
  return read_program(options, program,
                      [text](const compile_options& chosen) { return gpulog::program::from_text(text, chosen); });
}

gpulog_status gpulog_program_from_file(const char* path, const char* const* options, gpulog_program** program) {
  return read_program(options, program,
                      [path](const compile_options& chosen) { return gpulog::program::from_file(path, chosen); });
}

const char* gpulog_program_report(const gpulog_program* program) { return program->program.report().c_str(); }

void gpulog_program_free(gpulog_program* program) { delete program; }

gpulog_status gpulog_engine_new(const gpulog_program* program, const char* const* options, gpulog_engine** engine) {
  *engine = nullptr;
  return answered([&] { *engine = new gpulog_engine(program->program, detail::c_options(options).run); });
}

void gpulog_engine_free(gpulog_engine* engine) { delete engine; }

gpulog_status gpulog_load(gpulog_engine* engine) {
  return run(*engine, [](gpulog::engine& one) { one.load(); });
}

gpulog_status gpulog_evaluate(gpulog_engine* engine) {
  return run(*engine, [](gpulog::engine& one) { one.evaluate(); });
}

gpulog_status gpulog_write(gpulog_engine* engine) {
  return run(*engine, [](gpulog::engine& one) { one.write(); });
}

gpulog_status gpulog_save(gpulog_engine* engine, const char* path) {
  return run(*engine, [path](gpulog::engine& one) { one.save(path); });
}

gpulog_status gpulog_restore(gpulog_engine* engine, const char* path) {
  return run(*engine, [path](gpulog::engine& one) { one.restore(path); });
}

gpulog_status gpulog_reset(gpulog_engine* engine) {
  return answered([&] { engine->engine.reset(); });
}

void gpulog_cancel(gpulog_engine* engine) { engine->is_cancelled = true; }

gpulog_status gpulog_insert(gpulog_engine* engine, const char* relation, const gpulog_column* columns,
                            size_t column_count, uint64_t rows) {
  return change(
      engine, relation, {columns, column_count}, rows,
      [](gpulog::relation& target, const auto& given) { target.insert_columns(given); },
      [](gpulog::relation& target) { target.insert({}); });
}

gpulog_status gpulog_erase(gpulog_engine* engine, const char* relation, const gpulog_column* columns,
                           size_t column_count, uint64_t rows) {
  return change(
      engine, relation, {columns, column_count}, rows,
      [](gpulog::relation& target, const auto& given) { target.erase_columns(given); },
      [](gpulog::relation& target) { target.erase({}); });
}

gpulog_status gpulog_insert_arrow(gpulog_engine* engine, const char* relation, ArrowArrayStream* rows) {
  return answered([&] { engine->engine.relation(relation).insert_arrow(*rows); });
}

gpulog_status gpulog_erase_arrow(gpulog_engine* engine, const char* relation, ArrowArrayStream* rows) {
  return answered([&] { engine->engine.relation(relation).erase_arrow(*rows); });
}

gpulog_status gpulog_relation(gpulog_engine* engine, const char* name, gpulog_rows** rows) {
  *rows = nullptr;
  return answered([&] { *rows = new_rows(engine->engine.relation(name)); });
}

gpulog_status gpulog_query(gpulog_engine* engine, const char* body, gpulog_rows** rows) {
  *rows = nullptr;
  return run(*engine, [&](gpulog::engine& one) { *rows = new_rows(one.query(body)); });
}

gpulog_status gpulog_changes(gpulog_engine* engine, const char* relation, gpulog_rows** added, gpulog_rows** removed) {
  *added = nullptr;
  *removed = nullptr;
  return answered([&] {
    changed_rows changes = engine->engine.changes(relation);
    std::unique_ptr<gpulog_rows> made(new_rows(std::move(changes.added)));
    *removed = new_rows(std::move(changes.removed));
    *added = made.release();
  });
}

void gpulog_rows_free(gpulog_rows* rows) { delete rows; }

uint64_t gpulog_rows_size(const gpulog_rows* rows) {
  return std::visit([](const auto& shown) { return shown.size(); }, rows->rows);
}

size_t gpulog_rows_width(const gpulog_rows* rows) { return rows->attributes.size(); }

const char* gpulog_rows_name(const gpulog_rows* rows, size_t column) {
  return column < rows->attributes.size() ? rows->attributes[column].name.c_str() : nullptr;
}

const char* gpulog_rows_type(const gpulog_rows* rows, size_t column) {
  return column < rows->attributes.size() ? rows->attributes[column].type.c_str() : nullptr;
}

gpulog_status gpulog_rows_column(gpulog_rows* rows, size_t column, gpulog_column* values) {
  return answered([&] { *values = read_column(*rows, column); });
}

gpulog_status gpulog_rows_to_arrow(const gpulog_rows* rows, ArrowArrayStream* stream) {
  return answered([&] { std::visit([stream](const auto& shown) { shown.to_arrow(*stream); }, rows->rows); });
}
