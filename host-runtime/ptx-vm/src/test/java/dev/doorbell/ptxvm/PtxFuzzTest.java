package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.ptxvm.ir.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Damaged PTX is refused in words: no hang, no other exception, no crash of the JVM. */
class PtxFuzzTest {
  private static final Pattern WORDS = Pattern.compile("[%.]?[A-Za-z_$][\\w$]*|\\d\\w*|\\S|\\s+");
  private static final List<String> SEEDS =
      List.of("ptx/language.ptx", "ptx/meeting.ptx", "ptx/posts.ptx", "kernels/copies.ptx");
  private static final String[] STRANGE = {
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ".reg",
    ".b128",
    ".f32",
    ".v4",
    "-1",
    "0xffffffffffffffff",
    "9999999999999999999999",
    "%r1",
    "@",
    "!",
    "|",
    ".param",
    ".shared",
    ".loc 1 1 1",
    "/*",
    "\"",
    "1.5",
    "0f7fffffff",
    "<1000000>",
    "[8589934592]",
    "call",
    "bra",
    ".entry",
    "ret;",
    "\u00e9"
  };

  @Test
  void a_few_damaged_files_are_refused_in_words() {
    fuzz(60, 20_251_121);
  }

  @Test
  @Tag("slow")
  @Timeout(value = 10, unit = TimeUnit.MINUTES) // a hang is a failure
  void thousands_of_damaged_files_are_refused_in_words() {
    fuzz(Integer.getInteger("ptx.fuzz.files", 4000), Long.getLong("ptx.fuzz.seed", 1));
  }

  @Test
  void deep_nesting_exhausts_nothing() {
    for (String open : List.of("{", "(", "[", "1*", "-", "generic(", "@", "!", "{ mov.u32 {")) {
      String deep = open.repeat(100_000);
      for (String text :
          List.of(
              ".global .u32 x[4] = " + deep,
              ".entry k() { " + deep,
              ".entry k() { mov.b64 %rd1, " + deep,
              ".entry k() { ld.u32 %r1, [" + deep,
              ".func (" + deep)) {
        assertThat(World.check("deep.ptx", World.ptx(text))).as(open).isNotEmpty();
      }
    }
  }

  private static void fuzz(int files, long firstSeed) {
    List<List<String>> sources = new ArrayList<>();
    for (String seed : SEEDS) {
      sources.add(functions(World.resourceText(seed)));
    }
    int loaded = 0;
    try (World world = new World()) {
      for (long seed = firstSeed; seed < firstSeed + files; seed++) {
        SplittableRandom random = new SplittableRandom(seed);
        String ptx = mutate(sources.get(random.nextInt(sources.size())), random);
        try {
          List<Refusal> refusals = World.check("fuzz.ptx", ptx);
          assertThat(refusals).allMatch(refusal -> !refusal.reason().isEmpty());
          try {
            world.gpu.load("fuzz.ptx", ptx).close();
            assertThat(refusals).isEmpty();
            loaded++;
          } catch (GpuException e) {
            assertThat(e.getMessage()).startsWith("fuzz.ptx");
          }
        } catch (RuntimeException | Error e) {
          fail("seed %d: %s".formatted(seed, e), e);
        }
      }
    }
    assertThat(loaded).as("files that were still good").isLessThan(files);
  }

  /** A file as words, cut to a length that is quick to load. */
  private static List<String> functions(String text) {
    List<String> words = new ArrayList<>();
    Matcher matcher = WORDS.matcher(text);
    while (matcher.find() && words.size() < 12_000) {
      words.add(matcher.group());
    }
    return words;
  }

  private static String mutate(List<String> source, SplittableRandom random) {
    int from = random.nextInt(4) == 0 ? random.nextInt(source.size()) : 0;
    List<String> words = new ArrayList<>(source.subList(from, source.size()));
    for (int change = 1 + random.nextInt(8); change > 0 && words.size() > 1; change--) {
      int at = random.nextInt(words.size());
      switch (random.nextInt(7)) {
        case 0 -> words.remove(at);
        case 1 -> words.add(at, words.get(random.nextInt(words.size())));
        case 2 -> words.set(at, words.get(random.nextInt(words.size())));
        case 3 -> words.set(at, STRANGE[random.nextInt(STRANGE.length)]);
        case 4 -> words.add(at, STRANGE[random.nextInt(STRANGE.length)]);
        case 5 -> words.subList(at, Math.min(words.size(), at + random.nextInt(40))).clear();
        default -> {
          StringBuilder word = new StringBuilder(words.get(at));
          word.setCharAt(random.nextInt(word.length()), (char) (32 + random.nextInt(95)));
          words.set(at, word.toString());
        }
      }
    }
    return String.join("", words);
  }
}
