#include "proofs.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>

#include "gpulog/proof.hpp"
#include "values.hpp"

namespace gpulog_python {
namespace {

const char* name_of(gpulog::proof::kind kind) {
  switch (kind) {
    case gpulog::proof::kind::fact:
      return "fact";
    case gpulog::proof::kind::derived:
      return "derived";
    case gpulog::proof::kind::cut:
      return "cut";
    case gpulog::proof::kind::condition:
      return "condition";
    case gpulog::proof::kind::unknown:
      break;
  }
  return "unknown";
}

/// Reads a text member, which need not be valid UTF-8.
template <class Shown>
auto text(std::string Shown::*member) {
  return [member](const Shown& one) { return decoded(one.*member); };
}

/// Premises are references into the proof, and keep it alive.
nb::list premises_of(nb::handle_t<gpulog::proof> self) {
  nb::list result;
  for (gpulog::proof& premise : nb::inst_ptr<gpulog::proof>(self)->premises) {
    result.append(nb::cast(&premise, nb::rv_policy::reference_internal, self));
  }
  return result;
}

nb::list parts_of(const gpulog::failed_rule& one) {
  nb::list result;
  for (const gpulog::failed_rule::part& part : one.parts) {
    result.append(nb::make_tuple(decoded(part.text), part.holds ? nb::cast(*part.holds) : nb::none()));
  }
  return result;
}

}  // namespace

void add_proofs(nb::module_& module) {
  using gpulog::failed_rule;
  using gpulog::proof;
  nb::class_<proof>(module, "Proof")
      .def_prop_ro("kind", [](const proof& one) { return name_of(one.what); })
      .def_prop_ro("text", text(&proof::text))
      .def_prop_ro("relation", text(&proof::relation))
      .def_ro("height", &proof::height)
      .def_ro("is_least", &proof::is_least)
      .def_prop_ro("rule", text(&proof::rule))
      .def_ro("rule_number", &proof::rule_number)
      .def_prop_ro("location", text(&proof::location))
      .def_prop_ro("note", text(&proof::note))
      .def_prop_ro("premises", premises_of)
      .def("json", [](const proof& one) { return decoded(gpulog::to_json(one)); })
      .def("drawing", [](const proof& one) { return decoded(gpulog::to_text(one)); });

  nb::class_<failed_rule>(module, "FailedRule")
      .def_ro("number", &failed_rule::number)
      .def_prop_ro("rule", text(&failed_rule::rule))
      .def_prop_ro("location", text(&failed_rule::location))
      .def_ro("fits_head", &failed_rule::fits_head)
      .def_ro("free_variables", &failed_rule::free_variables)
      .def_prop_ro("parts", parts_of)
      .def("drawing",
           [](const failed_rule& one, const std::string& tuple) { return decoded(gpulog::to_text(one, tuple)); });
}

}  // namespace gpulog_python
