package dev.doorbell.experiments.config.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.problem.ConfigException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class YamlDocumentTest {
  @Test
  void keys_values_and_elements_know_their_line_and_column() throws ConfigException {
    YamlDocument.Parsed parsed =
        YamlDocument.parse(
            "a.yaml",
            """
            # a comment
            axes:
              path: [pull, "push.bf"]
              size:
                - 8
                -   4K
            """);

    SourcePositions positions = parsed.positions();
    assertThat(positions.ofKey("/axes")).isEqualTo("a.yaml:2:1");
    assertThat(positions.ofKey("/axes/path")).isEqualTo("a.yaml:3:3");
    assertThat(positions.ofValue("/axes/path")).isEqualTo("a.yaml:3:9");
    assertThat(positions.ofValue("/axes/path/0")).isEqualTo("a.yaml:3:10");
    assertThat(positions.ofValue("/axes/path/1")).isEqualTo("a.yaml:3:16");
    assertThat(positions.ofValue("/axes/size/0")).isEqualTo("a.yaml:5:7");
    assertThat(positions.ofValue("/axes/size/1")).isEqualTo("a.yaml:6:9");
  }

  @Test
  void what_has_no_place_of_its_own_has_that_of_what_encloses_it() throws ConfigException {
    YamlDocument.Parsed parsed = YamlDocument.parse("a.yaml", "fixed:\n  sq: gpu\n");
    assertThat(parsed.positions().ofValue("/fixed/cq")).isEqualTo("a.yaml:2:3");
    assertThat(parsed.positions().ofValue("/nowhere/at/all")).isEqualTo("a.yaml:1:1");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void places_are_exact_in_documents_of_any_shape(long seed) throws ConfigException {
    Generator generator = new Generator(new Random(seed));
    String text = generator.document();

    SourcePositions positions = YamlDocument.parse("r.yaml", text).positions();

    generator.keys.forEach(
        (pointer, place) ->
            assertThat(positions.ofKey(pointer))
                .as("seed %d, key %s of%n%s", seed, pointer, text)
                .isEqualTo("r.yaml:" + place));
    generator.values.forEach(
        (pointer, place) ->
            assertThat(positions.ofValue(pointer))
                .as("seed %d, value %s of%n%s", seed, pointer, text)
                .isEqualTo("r.yaml:" + place));
  }

  @Test
  void scalars_follow_the_core_schema() throws ConfigException {
    var root =
        YamlDocument.parse(
                "a.yaml",
                "a: no\nb: 012\nc: 0x10\nd: 1e3\ne: true\nf: ~\ng: '8'\nh: .nan\ni: 1e999")
            .root();
    assertThat(root.get("a").stringValue()).isEqualTo("no");
    assertThat(root.get("b").longValue()).isEqualTo(12);
    assertThat(root.get("c").longValue()).isEqualTo(16);
    assertThat(root.get("d").doubleValue()).isEqualTo(1000);
    assertThat(root.get("e").booleanValue()).isTrue();
    assertThat(root.get("f").isNull()).isTrue();
    assertThat(root.get("g").isString()).isTrue();
    assertThat(root.get("h").isString()).isTrue();
    assertThat(root.get("i").isString()).isTrue();
  }

  @Test
  void a_key_given_twice_names_both_places() {
    assertThat(problem("a: 1\nb: 2\n  \na: 3\n"))
        .isEqualTo("x.yaml:4:1  DB-C003  key 'a' is given twice; the first is at x.yaml:1:1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a: [1, 2",
        "a: b: c",
        "\ta: 1",
        "a: *missing",
        "- 1",
        "just words",
        "",
        "---\na: 1\n---\nb: 2",
        "a: &x [*x]",
        "? [1, 2]\n: 3",
        "a: !!python/object {}",
        "a: \u0001",
        "%YAML 9.9\n---\na: 1",
        "a: 99999999999999999999"
      })
  void what_is_no_mapping_of_plain_yaml_is_one_clear_problem(String text) {
    assertThat(problem(text)).startsWith("x.yaml").contains("DB-C0").doesNotContain("\n");
  }

  @Test
  void aliases_that_multiply_are_stopped() {
    StringBuilder bomb = new StringBuilder("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 9; i++) {
      String inner = "*a%d,".formatted(i - 1).repeat(5);
      bomb.append("a%d: &a%d [%s]%n".formatted(i, i, inner));
    }
    assertThat(problem(bomb.toString())).contains("aliases that stand for more than 100,000 nodes");
  }

  private static String problem(String text) {
    ConfigException thrown =
        catchThrowableOfType(ConfigException.class, () -> YamlDocument.parse("x.yaml", text));
    return thrown.problems().getFirst().text();
  }

  /** Writes random nested YAML and remembers where it put what. */
  private static final class Generator {
    private final Random random;
    private final StringBuilder text = new StringBuilder();
    private final Map<String, String> keys = new LinkedHashMap<>();
    private final Map<String, String> values = new LinkedHashMap<>();
    private int line = 1;
    private int column = 1;

    Generator(Random random) {
      this.random = random;
    }

    String document() {
      mapping("", 0, 3);
      return text.toString();
    }

    private void mapping(String pointer, int indent, int depth) {
      int members = 1 + random.nextInt(4);
      for (int i = 0; i < members; i++) {
        while (random.nextInt(4) == 0) {
          write(random.nextBoolean() ? "\n" : " ".repeat(indent) + "# ünïcode: [comment]\n");
        }
        write(" ".repeat(indent));
        String name = "k" + i;
        String child = pointer + "/" + name;
        keys.put(child, place());
        write(random.nextInt(3) == 0 ? "\"" + name + "\":" : name + ":");
        if (depth > 0 && random.nextInt(3) == 0) {
          write("\n");
          mapping(child, indent + 1 + random.nextInt(3), depth - 1);
        } else if (random.nextInt(3) == 0) {
          flow(child);
          write("\n");
        } else {
          write(" ".repeat(1 + random.nextInt(3)));
          scalar(child);
          write(random.nextInt(4) == 0 ? "   # after\n" : "\n");
        }
      }
    }

    private void flow(String pointer) {
      write(" ".repeat(1 + random.nextInt(3)));
      values.put(pointer, place());
      write("[");
      int elements = 1 + random.nextInt(3);
      for (int i = 0; i < elements; i++) {
        write(i == 0 ? "" : "," + " ".repeat(random.nextInt(3)));
        scalar(pointer + "/" + i);
      }
      write("]");
    }

    private void scalar(String pointer) {
      values.put(pointer, place());
      String[] scalars = {"1", "'quoted text'", "\"größe\"", "plain", "4K", "true", "pow2(8)"};
      write(scalars[random.nextInt(scalars.length)]);
    }

    private String place() {
      return line + ":" + column;
    }

    private void write(String piece) {
      text.append(piece);
      for (int i = 0; i < piece.length(); i++) {
        if (piece.charAt(i) == '\n') {
          line++;
          column = 1;
        } else {
          column++;
        }
      }
    }
  }
}
