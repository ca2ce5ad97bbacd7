#include "support/option_names.hpp"

#include <algorithm>
#include <atomic>

namespace gpulog {
namespace {

std::atomic<option_form> form_of_options = option_form::keyword;

bool is_number(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }

}  // namespace

void set_option_form(option_form form) { form_of_options = form; }

option_form current_option_form() { return form_of_options; }

std::string option_named(std::string_view flag, std::string_view value) {
  std::string name(flag);
  if (current_option_form() == option_form::flag) return "--" + name + (value.empty() ? "" : " ") + std::string(value);
  std::replace(name.begin(), name.end(), '-', '_');
  if (value.empty()) return name;
  const std::string quote = is_number(value) ? "" : "\"";
  return name + "=" + quote + std::string(value) + quote;
}

}  // namespace gpulog
