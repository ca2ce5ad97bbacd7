#include "streams.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "gpulog/error.hpp"
#include "values.hpp"

namespace gpulog_python {
namespace {

constexpr const char* stream_name = "arrow_array_stream";

void release_capsule(PyObject* capsule) {
  auto* const stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, stream_name));
  if (stream == nullptr) return PyErr_Clear();
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

/// A one-column array with its format and the owner of its buffers.
struct one_array {
  std::string format;
  std::int64_t length = 0;
  std::vector<const void*> buffers;
  std::shared_ptr<const void> owner;
  bool is_read = false;
};

one_array& behind(ArrowArrayStream* stream) { return *static_cast<one_array*>(stream->private_data); }

int get_schema(ArrowArrayStream* stream, ArrowSchema* made) {
  *made = {};
  made->format = behind(stream).format.c_str();
  made->name = "";
  made->release = [](ArrowSchema* schema) { schema->release = nullptr; };
  return 0;
}

/// The stream owns the array's data: gpulog releases arrays before streams.
int get_next(ArrowArrayStream* stream, ArrowArray* made) {
  one_array& given = behind(stream);
  *made = {};
  if (std::exchange(given.is_read, true)) return 0;
  made->length = given.length;
  made->n_buffers = static_cast<std::int64_t>(given.buffers.size());
  made->buffers = given.buffers.data();
  made->release = [](ArrowArray* array) { array->release = nullptr; };
  return 0;
}

nb::capsule stream_of(std::unique_ptr<one_array> given) {
  const new_stream made = make_stream();
  *made.stream = {get_schema, get_next, [](ArrowArrayStream*) { return ""; },
                  [](ArrowArrayStream* stream) {
                    delete &behind(stream);
                    stream->release = nullptr;
                  },
                  given.release()};
  return made.capsule;
}

/// An array received from a different library, until the stream is read.
struct taken_array {
  ~taken_array() {
    if (schema.release != nullptr) schema.release(&schema);
    if (array.release != nullptr) array.release(&array);
  }
  ArrowSchema schema{};
  ArrowArray array{};
};

taken_array& taken(ArrowArrayStream* stream) { return *static_cast<taken_array*>(stream->private_data); }

/// Returns the Arrow format of an array of numbers.
/// @throws gpulog::input_error for any different type
std::string format_of(nb::dlpack::dtype type) {
  const auto code = static_cast<nb::dlpack::dtype_code>(type.code);
  const std::size_t place = type.bits == 8 ? 0 : type.bits == 16 ? 1 : type.bits == 32 ? 2 : type.bits == 64 ? 3 : 4;
  const auto one_of = [place](std::string_view formats) { return place < 4 ? formats[place] : '\0'; };
  char format = '\0';
  if (code == nb::dlpack::dtype_code::Int) format = one_of("csil");
  if (code == nb::dlpack::dtype_code::UInt) format = one_of("CSIL");
  if (code == nb::dlpack::dtype_code::Float) format = place < 2 ? '\0' : one_of("  fg");
  if (code == nb::dlpack::dtype_code::Bool) format = 'b';
  if (format == '\0') throw gpulog::input_error("an array has neither integers nor floats");
  return std::string(1, format);
}

/// Returns the vendor of a DLPack device type.
std::string vendor_of(int kind) {
  if (kind == nb::device::cuda::value || kind == nb::device::cuda_managed::value) return "cuda";
  if (kind == nb::device::rocm::value) return "hip";
  return kind == emulated_device ? "emulated" : "the kind " + std::to_string(kind) + " of DLPack";
}

/// Copies device memory to the host now.
nb::capsule stream_of_device_memory(const void* values, std::uint64_t rows, const std::string& format,
                                    const std::string& vendor, int device, const void* stream) {
  const auto copy = std::make_shared<std::vector<std::uint64_t>>(rows);  // no value has more than 8 bytes
  gpulog::device_column column;
  column.values = values;
  column.rows = rows;
  column.format = format;
  column.vendor = vendor;
  column.device = device;
  column.stream = stream;
  {
    const nb::gil_scoped_release free;
    gpulog::copy_to_host(column, copy->data());
  }
  auto made = std::make_unique<one_array>();
  made->format = format;
  made->length = static_cast<std::int64_t>(rows);
  made->buffers = {nullptr, copy->data()};
  made->owner = copy;
  return stream_of(std::move(made));
}

/// Appends Python values to a column.
class column_builder {
 public:
  column_builder(const std::string& relation, const gpulog::attribute& attribute, const structures& known)
      : relation_(relation), attribute_(attribute), known_(known), buffers_(std::make_shared<buffers>()) {}

  void add(nb::handle value) {
    const reading how = read(value);
    if (how == reading::of_another_type) {
      const std::string& type = attribute_.structure.empty() ? attribute_.type : attribute_.structure;
      throw gpulog::input_error(place() + (value.is_none() ? " is null" : " is no " + type + ": " + text_of(value)));
    }
    if (how == reading::out_of_range) {
      throw gpulog::input_error(place() + " is no " + attribute_.type + " of 64 bits: " + text_of(value));
    }
    ++rows_;
  }

  nb::capsule finish() {
    auto made = std::make_unique<one_array>();
    made->length = rows_;
    made->owner = buffers_;
    if (attribute_.type == "float") {
      made->format = "g";
      made->buffers = {nullptr, buffers_->floats.data()};
    } else if (attribute_.type == "number" || attribute_.type == "unsigned") {
      made->format = attribute_.type == "number" ? "l" : "L";
      made->buffers = {nullptr, buffers_->numbers.data()};
    } else {
      made->format = "U";
      made->buffers = {nullptr, buffers_->offsets.data(), buffers_->bytes.data()};
    }
    return stream_of(std::move(made));
  }

 private:
  struct buffers {
    std::vector<std::int64_t> numbers;
    std::vector<double> floats;
    std::vector<std::int64_t> offsets{0};
    std::string bytes;
  };

  reading read(nb::handle value) {
    if (attribute_.type == "number") return read_number(value, buffers_->numbers.emplace_back());
    if (attribute_.type == "unsigned") {
      std::uint64_t bits = 0;
      const reading how = read_unsigned(value, bits);
      buffers_->numbers.push_back(static_cast<std::int64_t>(bits));
      return how;
    }
    if (attribute_.type == "float") return read_float(value, buffers_->floats.emplace_back());
    const bool is_text = attribute_.structure.empty() || PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr());
    const reading how =
        is_text ? read_text(value, buffers_->bytes) : known_.append_text(value, attribute_.structure, buffers_->bytes);
    buffers_->offsets.push_back(static_cast<std::int64_t>(buffers_->bytes.size()));
    return how;
  }

  [[nodiscard]] std::string place() const {
    return "row " + std::to_string(rows_) + " of attribute " + attribute_.name + " of relation " + relation_;
  }

  const std::string& relation_;
  const gpulog::attribute& attribute_;
  const structures& known_;
  std::shared_ptr<buffers> buffers_;
  std::int64_t rows_ = 0;
};

/// Returns a sequence as a list or a tuple, whose elements are stable.
nb::object elements_of(nb::handle sequence) { return nb::steal(PySequence_Fast(sequence.ptr(), "no sequence")); }

}  // namespace

ArrowArrayStream& stream_in(const nb::capsule& capsule) {
  auto* const stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), stream_name));
  if (stream == nullptr) {
    PyErr_Clear();
    throw gpulog::input_error("the capsule has no stream of Arrow arrays");
  }
  if (stream->release == nullptr) throw gpulog::input_error("the stream of Arrow arrays was used already");
  return *stream;
}

new_stream make_stream() {
  auto* const stream = new ArrowArrayStream{};
  return {stream, nb::steal<nb::capsule>(PyCapsule_New(stream, stream_name, release_capsule))};
}

nb::capsule stream_of_capsules(const nb::capsule& schema, const nb::capsule& array) {
  auto* const given_schema = static_cast<ArrowSchema*>(PyCapsule_GetPointer(schema.ptr(), "arrow_schema"));
  auto* const given_array =
      given_schema == nullptr ? nullptr : static_cast<ArrowArray*>(PyCapsule_GetPointer(array.ptr(), "arrow_array"));
  if (given_array == nullptr) {
    PyErr_Clear();
    throw gpulog::input_error("the capsules have no Arrow array");
  }
  auto both = std::make_unique<taken_array>();
  std::swap(both->schema, *given_schema);
  std::swap(both->array, *given_array);
  const new_stream made = make_stream();
  *made.stream = {[](ArrowArrayStream* stream, ArrowSchema* out) {
                    *out = taken(stream).schema;
                    out->release = [](ArrowSchema* one) { one->release = nullptr; };
                    return 0;
                  },
                  [](ArrowArrayStream* stream, ArrowArray* out) {
                    *out = std::exchange(taken(stream).array, ArrowArray{});
                    return 0;
                  },
                  [](ArrowArrayStream*) { return ""; },
                  [](ArrowArrayStream* stream) {
                    delete &taken(stream);
                    stream->release = nullptr;
                  },
                  both.release()};
  return made.capsule;
}

nb::capsule stream_of_array(const nb::ndarray<nb::ro, nb::c_contig, nb::ndim<1>, nb::device::cpu>& values) {
  auto made = std::make_unique<one_array>();
  made->format = format_of(values.dtype());
  made->length = static_cast<std::int64_t>(values.shape(0));
  made->buffers = {nullptr, values.data()};
  made->owner = std::make_shared<nb::ndarray<nb::ro, nb::c_contig, nb::ndim<1>, nb::device::cpu>>(values);
  return stream_of(std::move(made));
}

nb::capsule stream_of_device_array(const nb::ndarray<nb::ro, nb::c_contig, nb::ndim<1>>& values) {
  // The producer has already made the device's default stream wait for the computation.
  return stream_of_device_memory(values.data(), values.shape(0), format_of(values.dtype()),
                                 vendor_of(values.device_type()), values.device_id(), nullptr);
}

nb::capsule stream_of_cuda_memory(std::uintptr_t values, std::uint64_t rows, char code, std::size_t bytes,
                                  std::uintptr_t stream) {
  using type = nb::dlpack::dtype_code;
  const type of_numbers = code == 'i'   ? type::Int
                          : code == 'u' ? type::UInt
                          : code == 'f' ? type::Float
                                        : type::Complex;
  const nb::dlpack::dtype dtype{static_cast<std::uint8_t>(of_numbers), static_cast<std::uint8_t>(8 * bytes), 1};
  // The interface does not name the device; addresses are unique within a process.
  return stream_of_device_memory(reinterpret_cast<const void*>(values), rows, format_of(dtype), "cuda", 0,
                                 reinterpret_cast<const void*>(stream));
}

nb::capsule stream_of_values(const std::string& relation, const gpulog::attribute& attribute, const nb::object& values,
                             const structures& known) {
  const nb::object elements = elements_of(values);
  if (!elements.is_valid()) {
    PyErr_Clear();
    throw gpulog::input_error("attribute " + attribute.name + " of relation " + relation +
                              " was given no column: " + text_of(values));
  }
  column_builder column(relation, attribute, known);
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(elements.ptr());
  for (Py_ssize_t i = 0; i < count; ++i) column.add(PySequence_Fast_GET_ITEM(elements.ptr(), i));
  return column.finish();
}

namespace {

/// Returns the values of a row that is a dictionary, in the order of the attributes; nothing for a plain value of a
/// relation with one attribute, which is a record.
nb::object values_of_dictionary(const std::string& relation, const std::vector<gpulog::attribute>& attributes,
                                const nb::dict& row, Py_ssize_t number) {
  const std::string place = "row " + std::to_string(number) + " for relation " + relation;
  nb::list values;
  for (const gpulog::attribute& attribute : attributes) {
    const nb::object key = nb::cast(attribute.name);
    if (row.contains(key)) {
      values.append(row[key]);
    } else if (attributes.size() == 1 && !attribute.structure.empty()) {
      return {};
    } else {
      throw gpulog::input_error(place + " has no key " + attribute.name);
    }
  }
  if (row.size() == attributes.size()) return values;
  for (const auto& [key, value] : row) {
    const bool is_attribute = std::any_of(attributes.begin(), attributes.end(), [&key](const gpulog::attribute& one) {
      return nb::cast(one.name).equal(key);
    });
    if (!is_attribute) throw gpulog::input_error(place + " has a key that is no attribute: " + text_of(key));
  }
  return values;
}

/// Returns the values of a row as a list or a tuple, or nothing for a plain value.
nb::object values_of_row(const std::string& relation, const std::vector<gpulog::attribute>& attributes, nb::handle row,
                         Py_ssize_t number) {
  if (PyDict_Check(row.ptr())) return values_of_dictionary(relation, attributes, nb::borrow<nb::dict>(row), number);
  const bool is_plain = PyUnicode_Check(row.ptr()) || PyBytes_Check(row.ptr()) || PyAnySet_Check(row.ptr());
  nb::object values = is_plain ? nb::object() : elements_of(row);
  PyErr_Clear();
  return values;
}

}  // namespace

std::vector<nb::capsule> streams_of_rows(const std::string& relation, const std::vector<gpulog::attribute>& attributes,
                                         const nb::object& rows, const structures& known) {
  const nb::object all = elements_of(rows);
  if (!all.is_valid()) {
    PyErr_Clear();
    throw gpulog::input_error("relation " + relation + " was given no rows: " + text_of(rows));
  }
  std::vector<column_builder> columns;
  columns.reserve(attributes.size());
  for (const gpulog::attribute& attribute : attributes) columns.emplace_back(relation, attribute, known);
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(all.ptr());
  for (Py_ssize_t i = 0; i < count; ++i) {
    const nb::handle row = PySequence_Fast_GET_ITEM(all.ptr(), i);
    const nb::object values = values_of_row(relation, attributes, row, i);
    if (!values.is_valid()) {
      // A relation with one attribute also accepts plain values as rows.
      if (attributes.size() != 1) {
        throw gpulog::input_error("row " + std::to_string(i) + " for relation " + relation +
                                  " is no sequence: " + text_of(row));
      }
      columns.front().add(row);
      continue;
    }
    const auto size = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(values.ptr()));
    if (size != attributes.size()) {
      throw gpulog::input_error("relation " + relation + " has " + std::to_string(attributes.size()) +
                                " attributes, but row " + std::to_string(i) + " has " + std::to_string(size) +
                                " values");
    }
    for (std::size_t c = 0; c < size; ++c) {
      columns[c].add(PySequence_Fast_GET_ITEM(values.ptr(), static_cast<Py_ssize_t>(c)));
    }
  }
  std::vector<nb::capsule> result;
  for (column_builder& column : columns) result.push_back(column.finish());
  return result;
}

}  // namespace gpulog_python
