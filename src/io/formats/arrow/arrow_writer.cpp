#include "io/formats/arrow/arrow_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "io/directive_parameters.hpp"
#include "io/formats.hpp"
#include "io/formats/arrow/arrow_library.hpp"
#include "io/row_formatter.hpp"
#include "io/values/utf8.hpp"
#include "io/values/value_text.hpp"
#include "support/error.hpp"
#include "support/long_vector.hpp"

namespace gpulog::io {
namespace {

constexpr std::uint64_t rows_per_batch = 131072;
constexpr const char* nullary_column = "()";

/// The memory that the release function of a struct frees.
struct schema_memory {
  std::string format;
  std::string name;
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::vector<ArrowSchema*> places;
};

void release_schema(ArrowSchema* schema) {
  const std::unique_ptr<schema_memory> memory(static_cast<schema_memory*>(schema->private_data));
  for (ArrowSchema* const child : memory->places) {
    if (child->release != nullptr) child->release(child);
  }
  schema->release = nullptr;
}

void make_schema(ArrowSchema& schema, std::unique_ptr<schema_memory> memory) {
  schema = {};
  for (const auto& child : memory->children) memory->places.push_back(child.get());
  schema.format = memory->format.c_str();
  schema.name = memory->name.c_str();
  schema.n_children = static_cast<std::int64_t>(memory->places.size());
  schema.children = memory->places.data();
  schema.release = release_schema;
  schema.private_data = memory.release();
}

struct array_memory {
  std::vector<wide_word> values;  ///< one 8-byte value or two 4-byte values each
  std::vector<std::int64_t> ends;
  std::string texts;
  std::vector<const void*> buffers;
  std::vector<std::unique_ptr<ArrowArray>> children;
  std::vector<ArrowArray*> places;
};

void release_array(ArrowArray* array) {
  const std::unique_ptr<array_memory> memory(static_cast<array_memory*>(array->private_data));
  for (ArrowArray* const child : memory->places) {
    if (child->release != nullptr) child->release(child);
  }
  array->release = nullptr;
}

void make_array(ArrowArray& array, std::uint64_t length, std::unique_ptr<array_memory> memory) {
  array = {};
  for (const auto& child : memory->children) memory->places.push_back(child.get());
  array.length = static_cast<std::int64_t>(length);
  array.n_buffers = static_cast<std::int64_t>(memory->buffers.size());
  array.n_children = static_cast<std::int64_t>(memory->places.size());
  array.buffers = memory->buffers.data();
  array.children = memory->places.data();
  array.release = release_array;
  array.private_data = memory.release();
}

/// The producer of a stream.
class exported_rows {
 public:
  exported_rows(const relation_rows& rows, const storage::symbol_table& symbols) : rows_(rows), symbols_(symbols) {
    for (std::size_t column = 0; column < rows.kinds.size(); ++column) formats_.push_back(format_of(column));
    if (formats_.empty()) formats_.emplace_back(long_text_format);
    make_bytes_of_odd_texts();
  }

  void schema(ArrowSchema& out) const {
    auto table = std::make_unique<schema_memory>();
    table->format = "+s";
    for (std::size_t column = 0; column < formats_.size(); ++column) {
      auto memory = std::make_unique<schema_memory>();
      memory->format = formats_[column];
      memory->name = rows_.kinds.empty()                     ? nullary_column
                     : column < rows_.attribute_names.size() ? rows_.attribute_names[column]
                                                             : std::to_string(column);
      auto child = std::make_unique<ArrowSchema>();
      make_schema(*child, std::move(memory));
      table->children.push_back(std::move(child));
    }
    make_schema(out, std::move(table));
  }

  /// Returns a released array after the last row.
  void next(ArrowArray& out) {
    out = {};
    if (next_row_ == rows_.rows) return;
    const std::uint64_t first = next_row_;
    const std::uint64_t last = std::min(rows_.rows, first + rows_per_batch);
    auto batch = std::make_unique<array_memory>();
    batch->buffers.push_back(nullptr);
    const row_window window(rows_, first, last);
    for (std::size_t column = 0; column < formats_.size(); ++column) {
      auto child = std::make_unique<ArrowArray>();
      make_array(*child, last - first, values(column, window, first, last));
      batch->children.push_back(std::move(child));
    }
    make_array(out, last - first, std::move(batch));
    next_row_ = last;
  }

  std::string problem;

 private:
  static constexpr const char* long_text_format = "U";
  static constexpr const char* long_bytes_format = "Z";

  [[nodiscard]] bool wide() const { return rows_.structured.wide != nullptr; }
  [[nodiscard]] bool is_text(std::size_t column) const {
    return formats_[column] == long_text_format || formats_[column] == long_bytes_format;
  }

  [[nodiscard]] const char* format_of(std::size_t column) const {
    switch (rows_.kinds[column]) {
      case value_kind::number:
        return wide() ? "l" : "i";
      case value_kind::unsigned_number:
        return wide() ? "L" : "I";
      case value_kind::floating:
        return wide() ? "g" : "f";
      default:
        return long_text_format;
    }
  }

  /// Stores a column of symbols as bytes if some symbol is not UTF-8.
  void make_bytes_of_odd_texts() {
    long_vector<bool> odd(symbols_.size());
    bool any = false;
    for (word id = 0; id < odd.size(); ++id) {
      odd[id] = !is_utf8(symbols_.text(id));
      any = any || odd[id];
    }
    if (!any) return;
    for (std::uint64_t first = 0; first < rows_.rows; first += rows_per_batch) {
      const std::uint64_t last = std::min(rows_.rows, first + rows_per_batch);
      const row_window window(rows_, first, last);
      for (std::size_t column = 0; column < rows_.kinds.size(); ++column) {
        // Symbols inside records are not checked.
        if (rows_.kinds[column] == value_kind::record || rows_.kinds[column] == value_kind::adt) {
          formats_[column] = long_bytes_format;
        }
        if (rows_.kinds[column] != value_kind::symbol || formats_[column] == long_bytes_format) continue;
        for (std::uint64_t row = first; row < last; ++row) {
          const word id = window.at(column, row);
          if (id >= odd.size() || !odd[id]) continue;
          formats_[column] = long_bytes_format;
          break;
        }
      }
    }
  }

  [[nodiscard]] std::unique_ptr<array_memory> values(std::size_t column, const row_window& window, std::uint64_t first,
                                                     std::uint64_t last) const {
    auto memory = std::make_unique<array_memory>();
    memory->buffers.push_back(nullptr);  // no nulls
    if (is_text(column)) {
      memory->ends.push_back(0);
      for (std::uint64_t row = first; row < last; ++row) {
        append_text(memory->texts, column, window, row);
        memory->ends.push_back(static_cast<std::int64_t>(memory->texts.size()));
      }
      memory->buffers.push_back(memory->ends.data());
      memory->buffers.push_back(memory->texts.data());
      return memory;
    }
    const std::size_t size = wide() ? sizeof(wide_word) : sizeof(word);
    memory->values.resize((static_cast<std::size_t>(last - first) * size + sizeof(wide_word) - 1) / sizeof(wide_word));
    auto* place = reinterpret_cast<std::byte*>(memory->values.data());
    for (std::uint64_t row = first; row < last; ++row, place += size) {
      const word stored = window.at(column, row);
      const wide_word value = storage::value_of(stored, rows_.structured.wide);
      if (wide()) {
        std::memcpy(place, &value, size);
      } else {
        std::memcpy(place, &stored, size);
      }
    }
    memory->buffers.push_back(memory->values.data());
    return memory;
  }

  void append_text(std::string& text, std::size_t column, const row_window& window, std::uint64_t row) const {
    if (rows_.kinds.empty()) {
      text += nullary_column;
      return;
    }
    const word stored = window.at(column, row);
    if (rows_.kinds[column] == value_kind::symbol) {
      text += symbols_.text(stored);
      return;
    }
    const value_type type = rows_.structured.type_of(column, rows_.kinds[column]);
    byte_buffer structured(*rows_.memory);
    structured_printer(structured, rows_.structured, true, symbols_).print(stored, type);
    text += structured.bytes();
  }

  const relation_rows& rows_;
  const storage::symbol_table& symbols_;
  std::vector<std::string> formats_;
  std::uint64_t next_row_ = 0;
};

exported_rows& producer_of(ArrowArrayStream* stream) { return *static_cast<exported_rows*>(stream->private_data); }

/// No exception leaves a function of the interface.
template <class Work>
int guarded(ArrowArrayStream* stream, const Work& work) {
  exported_rows& rows = producer_of(stream);
  try {
    work(rows);
    return 0;
  } catch (const std::exception& problem) {
    rows.problem = problem.what();
    return EIO;
  }
}

}  // namespace

void export_arrow_rows(const relation_rows& rows, const storage::symbol_table& symbols, ArrowArrayStream& stream) {
  stream = {};
  stream.private_data = new exported_rows(rows, symbols);
  stream.get_schema = [](ArrowArrayStream* own, ArrowSchema* out) {
    return guarded(own, [&](exported_rows& made) { made.schema(*out); });
  };
  stream.get_next = [](ArrowArrayStream* own, ArrowArray* out) {
    return guarded(own, [&](exported_rows& made) { made.next(*out); });
  };
  stream.get_last_error = [](ArrowArrayStream* own) { return producer_of(own).problem.c_str(); };
  stream.release = [](ArrowArrayStream* own) {
    delete &producer_of(own);
    own->release = nullptr;
  };
}

void check_arrow(const std::string& /*relation*/, const write_request& /*request*/) { require_arrow(); }

template <arrow_format Format>
void write_arrow(const relation_rows& rows, const write_request& request, const storage::symbol_table& symbols,
                 output_files& files) {
  output_file file(request.output_directory / output_name(rows.relation, directive_parameters(request.parameters)));
  file.close();
  arrow_owned<ArrowArrayStream> stream;
  export_arrow_rows(rows, symbols, *stream.get());
  {
    const file_size_signal_block block;
    save_arrow_file(file.temporary_path(), Format, stream.get());
  }
  files.add(std::move(file));
}

template void write_arrow<arrow_format::parquet>(const relation_rows&, const write_request&,
                                                 const storage::symbol_table&, output_files&);
template void write_arrow<arrow_format::arrow>(const relation_rows&, const write_request&, const storage::symbol_table&,
                                               output_files&);

}  // namespace gpulog::io
