// The script's words reach those that they are for, and no mistake in them goes unseen.
#include "catch.hpp"
#include "fake_engine.hpp"
#include "running_fake.hpp"

#include <algorithm>

using namespace llamavisor::testing;

TEST_CASE("a word that is misspelt ends the fake with code 99", "[fake]") {
  const auto* const word = GENERATE("no_token", "die=tokens:1:exit:1", "die=token:x:exit:1",
                                    "die=token:1:signal:SIGNOTHING", "x2:ignore_term",
                                    "load_ms=", "ignore_term=1", "cut=every:", "text=latin");
  CAPTURE(word);
  RunningFake fake(word);
  CHECK(fake.wait_for_end() == 99);
}

TEST_CASE("words before a colon choose the incarnation and the device", "[fake]") {
  struct Row {
    const char* word;
    const char* device;
    bool dies;
  };
  const auto row = GENERATE(
      Row{"g1:die=loading:exit:7", "none", true},
      Row{"generation=1:die=loading:exit:7", "none", true},
      Row{"g2:die=loading:exit:7", "none", false}, Row{"g1+:die=loading:exit:7", "none", true},
      Row{"cpu:die=loading:exit:7", "none", true}, Row{"gpu:die=loading:exit:7", "none", false},
      Row{"gpu:die=loading:exit:7", "Vulkan0", true},
      Row{"cpu:die=loading:exit:7", "Vulkan0", false},
      Row{"gpu1:die=loading:exit:7", "Vulkan0", true},
      Row{"gpu2+:die=loading:exit:7", "Vulkan0", false});
  CAPTURE(row.word, row.device);
  RunningFake fake(row.word, {"--device", row.device});
  CHECK(fake.wait_until_ready() == !row.dies);
}

TEST_CASE("an unknown flag is refused as the real server refuses it", "[fake]") {
  RunningFake fake({}, {"--nonsense"});
  CHECK(fake.wait_for_end() == 1);
}

TEST_CASE("the old dialect lacks the flags of today", "[fake]") {
  const auto knows = [](const std::vector<std::string>& flags, const char* flag) {
    return std::binary_search(flags.begin(), flags.end(), flag);
  };
  for (const auto* flag : {"--fit", "--no-ui", "--offline", "--cache-ram", "--no-slots"}) {
    CAPTURE(flag);
    CHECK(knows(fake_flags(), flag));
    CHECK_FALSE(knows(fake_flags(true), flag));
  }
  for (const auto* flag : {"--model", "-m", "--host", "--alias", "--no-webui", "--n-gpu-layers"}) {
    CAPTURE(flag);
    CHECK(knows(fake_flags(), flag));
    CHECK(knows(fake_flags(true), flag));
  }
  RunningFake fake("old_dialect", {"--fit", "off"});
  CHECK(fake.wait_for_end() == 1);
}
