#include "sema/checks/call_checks.hpp"

#include <string>

#include "sema/types/clause_types.hpp"
#include "sema/types/functors.hpp"

namespace gpulog::sema {

namespace {

std::string range_text(const functor_signature& signature) {
  const std::string least = std::to_string(signature.least_arguments);
  if (signature.most_arguments == signature.least_arguments) return least;
  if (signature.most_arguments == SIZE_MAX) return "at least " + least;
  return least + " to " + std::to_string(signature.most_arguments);
}

bool check_format(const syntax::functor_call& call, diagnostics& diagnostics) {
  const syntax::argument& pattern = call.arguments.front();
  const auto* text = pattern.as<syntax::string_constant>();
  if (text == nullptr) {
    diagnostics.error(pattern.span, "The first argument of functor format must be a text in quotes")
        .note("Texts that only the run knows are joined by cat(a, b)");
    return false;
  }
  const auto pieces = pieces_of_format(text->value);
  if (!pieces) {
    diagnostics.error(pattern.span, "A single brace in the text of functor format")
        .note("A value is written {}, and a brace {{ or }}");
    return false;
  }
  const std::size_t placeholders = pieces->size() - 1;
  const std::size_t values = call.arguments.size() - 1;
  if (placeholders == values) return true;
  diagnostics.error(pattern.span, "Mismatching number of values of functor format (expected " +
                                      std::to_string(placeholders) + ", one for each {}, got " +
                                      std::to_string(values) + ")");
  return false;
}

}  // namespace

bool check_call_form(const syntax::argument& term, diagnostics& diagnostics) {
  const auto& call = *term.as<syntax::functor_call>();
  const functor_signature& signature = *signature_of(call.op);
  const std::size_t given = call.arguments.size();
  if (given >= signature.least_arguments && given <= signature.most_arguments) {
    return call.op != syntax::functor::format || check_format(call, diagnostics);
  }
  diagnostics.error(term.span, "Mismatching arity of functor " + std::string(syntax::spelling(call.op)) +
                                   " (expected " + range_text(signature) + ", got " + std::to_string(given) + ")");
  return false;
}

}  // namespace gpulog::sema
