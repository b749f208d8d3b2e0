package dev.doorbell.experiments.fuzz.run;

import java.util.random.RandomGenerator;

/** Draws YAML documents that are valid or nearly so, and hard on a reader. */
final class YamlGenerator {
  private static final int DEEP = 100_000;
  private static final String[] KEYS = {
    "experiment", "question", "kernel", "axes", "size", "path", "measure", "samples", "seed",
        "faults",
    "gpus", "nics", "links", "paths", "bridges", "name", "claims", "paper", "runs", "measurements"
  };

  private final RandomGenerator random;

  YamlGenerator(RandomGenerator random) {
    this.random = random;
  }

  String document() {
    return switch (random.nextInt(200)) {
      case 0 -> "[".repeat(1 + random.nextInt(DEEP));
      case 1 -> "{a: ".repeat(1 + random.nextInt(DEEP));
      case 2 -> "- ".repeat(1 + random.nextInt(DEEP));
      case 3 -> "x: " + "9".repeat(1 + random.nextInt(10 * DEEP));
      case 4 -> "x: 0x" + "f".repeat(1 + random.nextInt(10 * DEEP));
      case 5 -> aliases();
      case 6 -> "x: &x {<<: *x}\n";
      case 7 -> "? ".repeat(1 + random.nextInt(DEEP)) + "x";
      case 8 -> "x: 1." + "3".repeat(1 + random.nextInt(10 * DEEP)) + "e" + random.nextInt();
      default -> mapping(0, "");
    };
  }

  /** Lists of lists of aliases: a few lines that mean billions of nodes. */
  private String aliases() {
    StringBuilder text = new StringBuilder("a0: &a0 [x, x]\n");
    int levels = 2 + random.nextInt(40);
    for (int i = 1; i < levels; i++) {
      text.append(
          "a%d: &a%d [%s*a%d]\n".formatted(i, i, "*a%d, ".formatted(i - 1).repeat(8), i - 1));
    }
    return text.toString();
  }

  private String mapping(int depth, String indent) {
    StringBuilder text = new StringBuilder();
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      text.append(indent).append(KEYS[random.nextInt(KEYS.length)]).append(":");
      text.append(value(depth + 1, indent + "  ")).append('\n');
    }
    return text.toString();
  }

  private String value(int depth, String indent) {
    int kind = random.nextInt(depth > 4 ? 8 : 10);
    return switch (kind) {
      case 0 -> "";
      case 1 -> " " + random.nextLong();
      case 2 -> " " + random.nextDouble();
      case 3 -> " [" + random.nextInt(100) + ", pull, 4K]";
      case 4 -> " &a" + depth + " text";
      case 5 -> " *a" + random.nextInt(1 + depth);
      case 6 -> " {<<: *a1, value: 1, source: x}";
      case 7 -> " \"\\u0000\\x1b'\"";
      case 8 -> "\n" + mapping(depth, indent);
      default -> "\n" + indent + "- " + mapping(depth, indent + "  ").strip();
    };
  }
}
