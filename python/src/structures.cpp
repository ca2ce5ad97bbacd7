#include "structures.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace gpulog_python {
namespace {

using fields = std::vector<gpulog::field>;

const fields* branch_fields(const gpulog::structured_type& type, std::string_view name) {
  for (const auto& branch : type.branches) {
    if (branch.name == name) return &branch.fields;
  }
  return nullptr;
}

template <class Number>
void append_number(Number number, std::string& into) {
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  into.append(digits.data(), end);
}

void append_quoted(std::string_view text, std::string& into) {
  into += '"';
  for (const char byte : text) {
    if (byte == '"' || byte == '\\') into += '\\';
    into += byte;
  }
  into += '"';
}

/// Appends a value without nested fields.
reading append_plain(nb::handle value, const std::string& type, std::string& into) {
  if (type == "number") {
    std::int64_t number = 0;
    const reading how = read_number(value, number);
    append_number(number, into);
    return how;
  }
  if (type == "unsigned") {
    std::uint64_t number = 0;
    const reading how = read_unsigned(value, number);
    append_number(number, into);
    return how;
  }
  if (type == "float") {
    double number = 0;
    const reading how = read_float(value, number);
    append_number(number, into);
    return how;
  }
  std::string text;
  const reading how = read_text(value, text);
  append_quoted(text, into);
  return how;
}

/// Returns the fields in their order, or nothing if the value is not a record with these fields.
nb::object sequence_of(nb::handle value, const fields& declared) {
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr())) return {};
  if (!PyDict_Check(value.ptr())) {
    nb::object elements = nb::steal(PySequence_Fast(value.ptr(), "no sequence"));
    if (!elements.is_valid()) PyErr_Clear();
    return elements;
  }
  const auto given = nb::borrow<nb::dict>(value);
  nb::list ordered;
  for (const gpulog::field& field : declared) {
    const nb::object key = nb::cast(field.name);
    if (!given.contains(key)) return {};
    ordered.append(given[key]);
  }
  return given.size() == declared.size() ? nb::object(ordered) : nb::object();
}

}  // namespace

class text_of_structures {
 public:
  text_of_structures(const structures& known, std::string& into) : known_(known), into_(into) {}

  reading append(nb::handle value, const std::string& structure) {
    if (!begin(value, structure)) return reading::of_another_type;
    while (!open_.empty()) {
      opened& innermost = open_.back();
      if (innermost.next == innermost.declared->size()) {
        into_ += innermost.closing;
        open_.pop_back();
        continue;
      }
      if (innermost.next > 0) into_ += ", ";
      const gpulog::field& field = (*innermost.declared)[innermost.next];
      const nb::handle part =
          PySequence_Fast_GET_ITEM(innermost.values.ptr(), static_cast<Py_ssize_t>(innermost.next++));
      if (!field.structure.empty()) {
        if (!begin(part, field.structure)) return reading::of_another_type;
      } else if (const reading how = append_plain(part, field.type, into_); how != reading::done) {
        return how;
      }
    }
    return reading::done;
  }

 private:
  struct opened {
    const fields* declared;
    nb::object values;  ///< a list or a tuple
    std::size_t next;
    char closing;
  };

  /// @return false if the value does not have the type
  bool begin(nb::handle value, const std::string& structure) {
    const gpulog::structured_type& type = known_.types_.find(structure)->second;
    if (type.type == "adt") return begin_branch(value, type);
    if (value.is_none()) {
      into_ += "nil";
      return true;
    }
    if (nb::isinstance(value, known_.branch_)) return false;
    return open(sequence_of(value, type.fields), type.fields, '[', ']');
  }

  bool begin_branch(nb::handle value, const gpulog::structured_type& type) {
    if (!nb::isinstance(value, known_.branch_)) return false;
    std::string name;
    if (read_text(value.attr("name"), name) != reading::done) return false;
    const fields* const declared = branch_fields(type, name);
    if (declared == nullptr) return false;
    into_ += '$' + name;
    const nb::object values = sequence_of(value.attr("fields"), *declared);
    if (!declared->empty()) return open(values, *declared, '(', ')');
    return values.is_valid() && PySequence_Fast_GET_SIZE(values.ptr()) == 0;
  }

  bool open(nb::object values, const fields& declared, char opening, char closing) {
    if (!values.is_valid()) return false;
    if (static_cast<std::size_t>(PySequence_Fast_GET_SIZE(values.ptr())) != declared.size()) return false;
    into_ += opening;
    open_.push_back({&declared, std::move(values), 0, closing});
    return true;
  }

  const structures& known_;
  std::string& into_;
  std::vector<opened> open_;
};

class objects_of_text {
 public:
  objects_of_text(const structures& known, std::string_view text) : known_(known), text_(text) {}

  nb::object make(const std::string& structure) {
    nb::object value = begin(structure);
    while (!open_.empty()) {
      opened& innermost = open_.back();
      if (value.is_valid()) {
        innermost.arguments.append(std::exchange(value, nb::object()));
        ++innermost.made;
      }
      if (innermost.made == innermost.declared->size()) {
        take(innermost.closing);
        value = called(innermost.maker, innermost.arguments);
        open_.pop_back();
        continue;
      }
      if (innermost.made > 0) take(',');
      const gpulog::field& field = (*innermost.declared)[innermost.made];
      value = field.structure.empty() ? plain(field.type) : begin(field.structure);
    }
    return value;
  }

 private:
  struct opened {
    const fields* declared;
    nb::object maker;
    nb::list arguments;
    char closing;
    std::size_t made = 0;  ///< number of fields so far
  };

  /// Returns a complete value, or nothing after opening a value with fields.
  nb::object begin(const std::string& structure) {
    const gpulog::structured_type& type = known_.types_.find(structure)->second;
    skip_blanks();
    if (type.type == "adt") return begin_branch(type);
    constexpr std::string_view nil = "nil";
    if (text_.substr(at_).starts_with(nil)) {
      at_ += nil.size();
      return nb::none();
    }
    take('[');
    open_.push_back({&type.fields, known_.records_[nb::cast(structure)], nb::list(), ']'});
    return {};
  }

  nb::object begin_branch(const gpulog::structured_type& type) {
    take('$');
    const std::size_t first = at_;
    while (at_ < text_.size() && std::string_view("(), ]").find(text_[at_]) == std::string_view::npos) ++at_;
    const std::string_view name = text_.substr(first, at_ - first);
    const fields* const declared = branch_fields(type, name);
    nb::list arguments;
    arguments.append(decoded(name));
    if (declared == nullptr || declared->empty()) return called(known_.branch_, arguments);
    take('(');
    open_.push_back({declared, known_.branch_, arguments, ')'});
    return {};
  }

  nb::object plain(const std::string& type) {
    skip_blanks();
    if (type == "symbol") return symbol();
    if (type == "number") return nb::int_(number<std::int64_t>());
    if (type == "unsigned") return nb::int_(number<std::uint64_t>());
    return nb::float_(known_.is_wide_ ? number<double>() : double{number<float>()});
  }

  nb::object symbol() {
    take('"');
    std::string text;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      text += text_[at_];
    }
    take('"');
    return decoded(text);
  }

  template <class Number>
  Number number() {
    Number value{};
    const char* const first = text_.data() + at_;
    const auto [end, fault] = std::from_chars(first, text_.data() + text_.size(), value);
    if (fault != std::errc()) throw std::logic_error("no number in the text of a record");
    at_ += static_cast<std::size_t>(end - first);
    return value;
  }

  static nb::object called(const nb::object& maker, const nb::list& arguments) {
    const nb::object made = nb::steal(PyObject_CallObject(maker.ptr(), nb::tuple(arguments).ptr()));
    if (!made.is_valid()) throw nb::python_error();
    return made;
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  void take(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) throw std::logic_error("the text of a record is none");
    ++at_;
  }

  const structures& known_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<opened> open_;
};

structures::structures(const gpulog::program& source, nb::dict records, nb::object branch)
    : records_(std::move(records)), branch_(std::move(branch)), is_wide_(source.word_size() == 64) {
  for (gpulog::structured_type& type : source.types()) types_.emplace(type.name, std::move(type));
}

reading structures::append_text(nb::handle value, const std::string& structure, std::string& into) const {
  return text_of_structures(*this, into).append(value, structure);
}

nb::object structures::object_of(std::string_view text, const std::string& structure) const {
  return objects_of_text(*this, text).make(structure);
}

}  // namespace gpulog_python
