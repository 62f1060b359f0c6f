// A host in thirty lines: loads a model, streams an answer, says what it took.
#include <llamavisor/llamavisor.hpp>

#include <iostream>
#include <vector>

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cerr << "usage: embed MODEL.gguf [QUESTION]\n";
    return 2;
  }
  const auto model = llamavisor::load_model(argv[1]);
  const std::vector<llamavisor::Message> conversation{
      {.role = "user", .content = argc > 2 ? argv[2] : "Why is the sky blue?"}};

  auto answer = model.chat(conversation, {.max_tokens = 200});
  for (const auto& token : answer)
    std::cout << token.text << std::flush;

  const auto& result = answer.result_or_throw();
  std::cout << "\n\n"
            << result.generated_tokens << " tokens on " << result.device << ", "
            << result.timings.generate_per_second << " per second, ended by "
            << name(result.finish_reason) << '\n';
  model.close();
} catch (const llamavisor::Error& error) {
  std::cerr << "embed: " << error.what() << '\n';
  return 1;
}
