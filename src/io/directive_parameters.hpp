#pragma once

#include <map>
#include <string>
#include <string_view>

namespace gpulog::io {

/// The key=value parameters of an .input or .output directive.
class directive_parameters {
 public:
  explicit directive_parameters(const std::map<std::string, std::string>& values) : values_(values) {}

  [[nodiscard]] std::string text(const std::string& key, std::string_view otherwise) const;
  [[nodiscard]] bool has(const std::string& key) const { return values_.contains(key); }
  /// As in Soufflé, every value but "true" is false; the analysis warns of such values.
  [[nodiscard]] bool flag(const std::string& key) const;
  /// Returns the text between two columns. @throws user_error for a quote with rfc4180, which readers could not parse
  [[nodiscard]] std::string delimiter(bool rfc4180) const;

 private:
  const std::map<std::string, std::string>& values_;
};

/// Returns the name of a relation in files and on standard output: the parameter name, else the relation's name.
[[nodiscard]] std::string name_in_files(const std::string& relation,
                                        const std::map<std::string, std::string>& parameters);

}  // namespace gpulog::io
