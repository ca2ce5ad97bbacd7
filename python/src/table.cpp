#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "gpulog/error.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace gpulog_python {
namespace {

template <class T>
const T* buffer(const ArrowArray& array, std::size_t number) {
  return static_cast<const T*>(array.buffers[number]);
}

std::string_view bytes_in(const ArrowArray& array, std::int64_t row) {
  const auto* const offsets = buffer<std::int64_t>(array, 1);
  return {buffer<char>(array, 2) + offsets[row], static_cast<std::size_t>(offsets[row + 1] - offsets[row])};
}

nb::object text_in(const ArrowArray& array, std::int64_t row) { return decoded(bytes_in(array, row)); }

nb::list texts_in(const ArrowArray& array) {
  nb::list result;
  for (std::int64_t row = 0; row < array.length; ++row) result.append(text_in(array, row));
  return result;
}

}  // namespace

table::table(const std::vector<gpulog::attribute>& attributes, ArrowArrayStream stream,
             std::shared_ptr<const structures> known)
    : known_(std::move(known)) {
  for (const gpulog::attribute& attribute : attributes) {
    structures_of_columns_.push_back(attribute.structure);
    const bool is_number = attribute.type == "number" || attribute.type == "unsigned" || attribute.type == "float";
    formats_.push_back(is_number ? "" : attribute.type == "symbol" ? "dictionary" : "text");
  }
  const std::shared_ptr<ArrowArrayStream> owner(&stream, [](ArrowArrayStream* one) { one->release(one); });
  ArrowSchema schema;
  if (stream.get_schema(&stream, &schema) != 0) throw gpulog::error(stream.get_last_error(&stream));
  for (std::size_t c = 0; c < formats_.size(); ++c) {
    if (formats_[c].empty()) formats_[c] = schema.children[c]->format;
  }
  schema.release(&schema);
  for (;;) {
    const std::shared_ptr<ArrowArray> piece(new ArrowArray{}, [](ArrowArray* array) {
      if (array->release != nullptr) array->release(array);
      delete array;
    });
    if (stream.get_next(&stream, piece.get()) != 0) throw gpulog::error(stream.get_last_error(&stream));
    if (piece->release == nullptr) break;
    rows_ += static_cast<std::uint64_t>(piece->length);
    pieces_.push_back(piece);
    texts_.emplace_back(formats_.size());
    for (std::size_t c = 0; c < formats_.size(); ++c) {
      if (formats_[c] == "dictionary") texts_.back()[c] = texts_in(*piece->children[c]->dictionary);
    }
  }
}

nb::object table::value(std::size_t piece, std::size_t column, std::int64_t row) {
  const ArrowArray& values = *pieces_[piece]->children[column];
  const std::string& format = formats_[column];
  if (format == "dictionary") return nb::borrow(texts_[piece][column][buffer<std::uint32_t>(values, 1)[row]]);
  if (format == "text") return text_in(values, row);
  switch (format[0]) {
    case 'i':
      return nb::int_(buffer<std::int32_t>(values, 1)[row]);
    case 'I':
      return nb::int_(buffer<std::uint32_t>(values, 1)[row]);
    case 'l':
      return nb::int_(buffer<std::int64_t>(values, 1)[row]);
    case 'L':
      return nb::int_(buffer<std::uint64_t>(values, 1)[row]);
    case 'f':
      return nb::float_(buffer<float>(values, 1)[row]);
    default:
      return nb::float_(buffer<double>(values, 1)[row]);
  }
}

nb::list table::fetch(std::uint64_t first, std::uint64_t count) {
  nb::list result;
  for (std::size_t piece = 0; piece < pieces_.size() && count > 0; ++piece) {
    const auto length = static_cast<std::uint64_t>(pieces_[piece]->length);
    for (std::uint64_t row = first; row < length && count > 0; ++row, --count) {
      const nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(formats_.size())));
      for (std::size_t c = 0; c < formats_.size(); ++c) {
        const auto place = static_cast<std::int64_t>(row);
        nb::object made =
            structures_of_columns_[c].empty()
                ? value(piece, c, place)
                : known_->object_of(bytes_in(*pieces_[piece]->children[c], place), structures_of_columns_[c]);
        PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(c), made.release().ptr());
      }
      result.append(tuple);
    }
    first = first > length ? first - length : 0;
  }
  return result;
}

nb::list table::objects(std::size_t column) {
  nb::list result;
  for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
    for (std::int64_t row = 0; row < pieces_[piece]->length; ++row) result.append(value(piece, column, row));
  }
  return result;
}

nb::list table::texts(std::size_t column) const { return pieces_.empty() ? nb::list() : texts_.front()[column]; }

nb::object table::numbers(std::size_t column) const {
  static const std::uint64_t nothing = 0;
  const std::string& format = formats_[column];
  const auto dtype = [&]() -> nb::dlpack::dtype {
    if (format == "i" || format == "dictionary") return nb::dtype<std::int32_t>();
    if (format == "I") return nb::dtype<std::uint32_t>();
    if (format == "l") return nb::dtype<std::int64_t>();
    if (format == "L") return nb::dtype<std::uint64_t>();
    return format == "f" ? nb::dtype<float>() : nb::dtype<double>();
  }();
  // Equivalence relations have several pieces, which were copied anyway.
  std::shared_ptr<const void> owner;
  const void* values = &nothing;
  if (pieces_.size() == 1) {
    owner = pieces_.front();
    values = pieces_.front()->children[column]->buffers[1];
  } else if (!pieces_.empty()) {
    const std::size_t bytes = dtype.bits / 8;
    const auto joined = std::make_shared<std::vector<char>>();
    joined->reserve(rows_ * bytes);
    for (const auto& piece : pieces_) {
      const char* const begin = buffer<char>(*piece->children[column], 1);
      joined->insert(joined->end(), begin, begin + static_cast<std::size_t>(piece->length) * bytes);
    }
    owner = joined;
    values = joined->data();
  }
  auto kept = std::make_unique<std::shared_ptr<const void>>(owner);
  const nb::capsule keeper(kept.release(),
                           [](void* one) noexcept { delete static_cast<std::shared_ptr<const void>*>(one); });
  const std::size_t shape[] = {static_cast<std::size_t>(rows_)};
  return nb::cast(nb::ndarray<nb::array_api, nb::ro>(values, 1, shape, keeper, nullptr, dtype));
}

}  // namespace gpulog_python
