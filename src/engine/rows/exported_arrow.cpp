#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine_state.hpp"
#include "engine/rows/shown_rows.hpp"
#include "engine/rows/text_buffers.hpp"
#include "gpulog/arrow.hpp"
#include "gpulog/error.hpp"
#include "gpulog/relation.hpp"
#include "io/files/byte_buffer.hpp"
#include "io/values/structured_value.hpp"
#include "io/values/utf8.hpp"
#include "support/error.hpp"
#include "support/long_vector.hpp"

namespace gpulog {
namespace {

/// Rows per array if rows are built on request, because an equivalence relation may have very many pairs.
constexpr std::uint64_t rows_that_are_made = std::uint64_t{1} << 20;

/// Buffer of an empty array: consumers may require a buffer for any length.
constexpr std::uint64_t nothing[8] = {};

constexpr std::uint32_t no_code = UINT32_MAX;

input_error no_utf8() {
  return input_error("a symbol is no UTF-8, so that it is no text for Arrow: have symbols as bytes");
}

/// Large texts in the layout of Arrow.
class text_column {
 public:
  text_column(bool must_be_utf8, std::uint64_t rows) : must_be_utf8_(must_be_utf8) {
    offsets_.reserve(memory_size(rows + 1));
    offsets_.push_back(0);
  }

  void add(std::string_view text) {
    if (must_be_utf8_ && !io::is_utf8(text)) throw no_utf8();
    bytes_.append(text);
    offsets_.push_back(static_cast<std::int64_t>(bytes_.size()));
  }

  [[nodiscard]] const void* offsets() const { return offsets_.data(); }
  [[nodiscard]] const void* bytes() const { return bytes_.empty() ? static_cast<const void*>(nothing) : bytes_.data(); }
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }

 private:
  bool must_be_utf8_;
  std::vector<std::int64_t> offsets_;
  std::string bytes_;
};

// ---- the structs and the data that they own
// ---------------------------------------------------------------------------

/// Children and dictionary of an exported struct. A consumer that moves a child out marks the child as released.
template <class Struct>
struct shared_parts {
  shared_parts() = default;
  shared_parts(const shared_parts&) = delete;
  shared_parts& operator=(const shared_parts&) = delete;
  ~shared_parts() {
    for (Struct& child : children) {
      if (child.release != nullptr) child.release(&child);
    }
    if (dictionary.release != nullptr) dictionary.release(&dictionary);
  }

  std::vector<Struct> children;
  std::vector<Struct*> pointers;
  Struct dictionary{};
};

/// The buffers of an array, and the owner of the buffers.
struct array_parts : shared_parts<ArrowArray> {
  std::vector<const void*> buffers;
  std::shared_ptr<const void> owner;
};

struct schema_parts : shared_parts<ArrowSchema> {
  std::string format;
  std::string name;
};

template <class Parts, class Struct>
void release_parts(Struct* given) {
  delete static_cast<Parts*>(given->private_data);
  given->release = nullptr;
}

ArrowArray give_away(std::unique_ptr<array_parts> parts, std::int64_t rows) {
  ArrowArray made{};
  for (ArrowArray& child : parts->children) parts->pointers.push_back(&child);
  made.length = rows;
  made.n_buffers = static_cast<std::int64_t>(parts->buffers.size());
  made.buffers = parts->buffers.data();
  made.n_children = static_cast<std::int64_t>(parts->children.size());
  made.children = parts->pointers.data();
  made.dictionary = parts->dictionary.release == nullptr ? nullptr : &parts->dictionary;
  made.release = release_parts<array_parts>;
  made.private_data = parts.release();
  return made;
}

/// Builds an array of fixed-size values.
ArrowArray values_array(const void* values, std::int64_t rows, std::shared_ptr<const void> owner) {
  auto parts = std::make_unique<array_parts>();
  parts->buffers = {nullptr, values == nullptr ? nothing : values};
  parts->owner = std::move(owner);
  return give_away(std::move(parts), rows);
}

ArrowArray text_array(text_column&& texts) {
  auto parts = std::make_unique<array_parts>();
  const auto owner = std::make_shared<text_column>(std::move(texts));
  parts->buffers = {nullptr, owner->offsets(), owner->bytes()};
  parts->owner = owner;
  return give_away(std::move(parts), owner->rows());
}

ArrowSchema give_away(std::unique_ptr<schema_parts> parts) {
  ArrowSchema made{};
  for (ArrowSchema& child : parts->children) parts->pointers.push_back(&child);
  made.format = parts->format.c_str();
  made.name = parts->name.c_str();
  made.n_children = static_cast<std::int64_t>(parts->children.size());
  made.children = parts->pointers.data();
  made.dictionary = parts->dictionary.release == nullptr ? nullptr : &parts->dictionary;
  made.release = release_parts<schema_parts>;
  made.private_data = parts.release();
  return made;
}

std::unique_ptr<schema_parts> schema_of(std::string format, std::string name) {
  auto parts = std::make_unique<schema_parts>();
  parts->format = std::move(format);
  parts->name = std::move(name);
  return parts;
}

// ---- the stream -----------------------------------------------------------------------------------------------------

/// The rows of a relation at the creation of the stream.
class relation_stream {
 public:
  relation_stream(detail::shown_rows rows, const arrow_options& options)
      : run_(rows.shown()->engine->run()), options_(options), rows_(std::move(rows)) {}

  [[nodiscard]] ArrowSchema schema() const {
    auto rows = schema_of("+s", "");
    for (const sema::attribute& attribute : declared().attributes) {
      auto field = schema_of(format_of(attribute.kind), attribute.name);
      if (is_coded(attribute.kind)) {
        field->format = "i";
        field->dictionary = give_away(schema_of(format_of(attribute.kind), ""));
      }
      rows->children.push_back(give_away(std::move(field)));
    }
    return give_away(std::move(rows));
  }

  /// Returns the next array; a released array marks the end.
  ArrowArray next() {
    if (next_row_ == rows_.rows()) return {};
    const std::uint64_t rows = rows_.are_made() ? std::min(rows_that_are_made, rows_.rows() - next_row_) : rows_.rows();
    auto parts = std::make_unique<array_parts>();
    parts->buffers = {nullptr};
    for (const detail::shared_words& column : rows_.columns(next_row_, rows)) {
      const sema::attribute& attribute = declared().attributes[parts->children.size()];
      parts->children.push_back(array_of(column, attribute, rows));
    }
    next_row_ += rows;
    return give_away(std::move(parts), static_cast<std::int64_t>(rows));
  }

  std::string message;  ///< message of the last failure

 private:
  [[nodiscard]] const sema::relation& declared() const { return rows_.declared(); }
  [[nodiscard]] bool is_coded(value_kind kind) const { return options_.dictionaries && kind == value_kind::symbol; }

  [[nodiscard]] const char* format_of(value_kind kind) const {
    const bool is_wide = run_.values.wide.has_value();
    if (kind == value_kind::number) return is_wide ? "l" : "i";
    if (kind == value_kind::unsigned_number) return is_wide ? "L" : "I";
    if (kind == value_kind::floating) return is_wide ? "g" : "f";
    return options_.binary ? "Z" : "U";
  }

  [[nodiscard]] ArrowArray array_of(const detail::shared_words& column, const sema::attribute& attribute,
                                    std::uint64_t rows) {
    if (is_coded(attribute.kind)) return coded_array(column.words, rows);
    if (attribute.kind == value_kind::symbol) return symbol_array(column.words, rows);
    if (io::is_structured(attribute.kind)) return structured_array(column.words, attribute, rows);
    if (!run_.values.wide) return values_array(column.words, static_cast<std::int64_t>(rows), column.owner);
    const auto values = std::make_shared<std::vector<wide_word>>(rows);
    std::transform(column.words, column.words + rows, values->begin(),
                   [this](word code) { return run_.values.wide->value(code); });
    return values_array(values->data(), static_cast<std::int64_t>(rows), values);
  }

  [[nodiscard]] ArrowArray symbol_array(const word* words, std::uint64_t rows) const {
    // After a fork, the child process has no worker threads.
    io::task_runner tasks(getpid() == process_ ? run_.options.jobs : 1);
    const auto texts =
        std::make_shared<detail::text_buffers>(words, rows, run_.values.symbols, !options_.binary, tasks);
    if (!texts->ok()) throw no_utf8();
    auto parts = std::make_unique<array_parts>();
    parts->buffers = {nullptr, texts->offsets(), texts->bytes() == nullptr ? nothing : texts->bytes()};
    parts->owner = texts;
    return give_away(std::move(parts), static_cast<std::int64_t>(rows));
  }

  /// Codes are numbered by first occurrence: the engine may have many more symbols than the column.
  [[nodiscard]] ArrowArray coded_array(const word* words, std::uint64_t rows) const {
    long_vector<std::uint32_t> code_of(run_.values.symbols.size(), no_code);
    const auto codes = std::make_shared<long_vector<std::uint32_t>>(rows);
    text_column texts(!options_.binary, 0);
    std::uint32_t used = 0;
    for (std::uint64_t row = 0; row < rows; ++row) {
      std::uint32_t& code = code_of[words[row]];
      if (code == no_code) {
        code = used++;
        texts.add(run_.values.symbols.text(words[row]));
      }
      (*codes)[row] = code;
    }
    auto parts = std::make_unique<array_parts>();
    parts->buffers = {nullptr, rows == 0 ? static_cast<const void*>(nothing) : codes->data()};
    parts->owner = codes;
    parts->dictionary = text_array(std::move(texts));
    return give_away(std::move(parts), static_cast<std::int64_t>(rows));
  }

  [[nodiscard]] ArrowArray structured_array(const word* words, const sema::attribute& attribute, std::uint64_t rows) {
    const io::structured_columns structured = run_.structured();
    text_column texts(!options_.binary, rows);
    io::byte_buffer text;
    io::structured_printer printer(text, structured, true, run_.values.symbols);
    for (std::uint64_t row = 0; row < rows; ++row) {
      text.clear();
      printer.print(words[row], {attribute.kind, attribute.structure});
      texts.add(text.bytes());
    }
    return text_array(std::move(texts));
  }

  const detail::run_context& run_;
  arrow_options options_;
  detail::shown_rows rows_;
  std::uint64_t next_row_ = 0;
  pid_t process_ = getpid();  ///< process that created the stream
};

relation_stream& stream_behind(ArrowArrayStream* stream) {
  return *static_cast<relation_stream*>(stream->private_data);
}

/// Converts exceptions into error codes at the C interface.
template <class Make, class Made>
int answer(ArrowArrayStream* stream, Made* made, const Make& make) {
  relation_stream& rows = stream_behind(stream);
  try {
    *made = make(rows);
    return 0;
  } catch (const std::bad_alloc&) {
    rows.message = "out of memory";
    return ENOMEM;
  } catch (const std::exception& problem) {
    rows.message = problem.what();
    return EINVAL;
  }
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* made) {
  return answer(stream, made, [](relation_stream& rows) { return rows.schema(); });
}

int get_next(ArrowArrayStream* stream, ArrowArray* made) {
  return answer(stream, made, [](relation_stream& rows) { return rows.next(); });
}

const char* get_last_error(ArrowArrayStream* stream) { return stream_behind(stream).message.c_str(); }

void release_stream(ArrowArrayStream* stream) {
  delete &stream_behind(stream);
  stream->release = nullptr;
}

}  // namespace

void detail::export_rows(shown_rows rows, const arrow_options& options, ArrowArrayStream& made) {
  auto stream = std::make_unique<relation_stream>(std::move(rows), options);
  made = {get_schema, get_next, get_last_error, release_stream, stream.release()};
}

void relation::to_arrow(ArrowArrayStream& made, const arrow_options& options) const {
  detail::export_rows(detail::shown_rows(engine_->shared_from_this(), relation_), options, made);
}

}  // namespace gpulog
