#include "values.hpp"

#include <nanobind/stl/string.h>

#include <cstddef>

namespace gpulog_python {
namespace {

/// @return nothing if the value is not an integer
nb::object integer(nb::handle value) {
  if (PyBool_Check(value.ptr())) return {};
  return nb::steal(PyNumber_Index(value.ptr()));
}

reading failed(reading how) {
  PyErr_Clear();
  return how;
}

}  // namespace

reading read_number(nb::handle value, std::int64_t& into) {
  const nb::object whole = integer(value);
  if (!whole.is_valid()) return failed(reading::of_another_type);
  int overflow = 0;
  into = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  return overflow == 0 ? reading::done : reading::out_of_range;
}

reading read_unsigned(nb::handle value, std::uint64_t& into) {
  const nb::object whole = integer(value);
  if (!whole.is_valid()) return failed(reading::of_another_type);
  into = PyLong_AsUnsignedLongLong(whole.ptr());
  return PyErr_Occurred() == nullptr ? reading::done : failed(reading::out_of_range);
}

reading read_float(nb::handle value, double& into) {
  into = PyFloat_AsDouble(value.ptr());
  return PyErr_Occurred() == nullptr ? reading::done : failed(reading::of_another_type);
}

reading read_text(nb::handle value, std::string& into) {
  nb::object bytes = nb::borrow(value);
  if (PyUnicode_Check(value.ptr())) {
    Py_ssize_t size = 0;
    if (const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &size)) {
      into.append(text, static_cast<std::size_t>(size));
      return reading::done;
    }
    PyErr_Clear();
    bytes = nb::steal(PyUnicode_AsEncodedString(value.ptr(), "utf-8", "surrogateescape"));
    if (!bytes.is_valid()) return failed(reading::of_another_type);
  }
  if (!PyBytes_Check(bytes.ptr())) return reading::of_another_type;
  into.append(PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr())));
  return reading::done;
}

std::string text_of(nb::handle object) {
  std::string text = nb::cast<std::string>(nb::repr(object));
  constexpr std::size_t longest = 80;
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

nb::object decoded(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

}  // namespace gpulog_python
