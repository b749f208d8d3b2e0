package dev.doorbell.ptxvm;

import java.util.SplittableRandom;

/** Lines of PTX, and the registers that random ones name. */
abstract class RandomLines {
  static final int WORDS = 10;
  static final int LONGS = 7;
  static final int SINGLES = 5;
  static final int REALS = 4;
  static final int HALVES = 4;
  static final int PREDICATES = 5;

  final SplittableRandom random;
  final StringBuilder text = new StringBuilder();

  RandomLines(long seed) {
    random = new SplittableRandom(seed);
  }

  @SuppressWarnings("AnnotateFormatMethod") // formats are literals of its subclass
  final void line(String format, Object... arguments) {
    text.append("  ").append(format.formatted(arguments)).append('\n');
  }

  final int pick(int bound) {
    return random.nextInt(bound);
  }

  final String pick(String... choices) {
    return choices[pick(choices.length)];
  }

  final String word() {
    return "%r" + pick(WORDS);
  }

  final String wide() {
    return "%rd" + pick(LONGS);
  }

  final String single() {
    return "%f" + pick(SINGLES);
  }

  final String real() {
    return "%fd" + pick(REALS);
  }

  final String half() {
    return "%rs" + pick(HALVES);
  }

  final String predicate() {
    return "%p" + pick(PREDICATES);
  }

  final String wordOrNumber() {
    return pick(4) == 0 ? Integer.toString(random.nextInt(-40, 70)) : word();
  }

  final void registers() {
    line(".reg .b32 %%r<%d>; .reg .b64 %%rd<%d>; .reg .f32 %%f<%d>;", WORDS, LONGS, SINGLES);
    line(".reg .f64 %%fd<%d>; .reg .b16 %%rs<%d>; .reg .pred %%p<%d>;", REALS, HALVES, PREDICATES);
    line(".reg .b64 %%own, %%out, %%cells, %%flags, %%at, %%gen; .reg .b32 %%me, %%x, %%y, %%z;");
    line(".reg .b32 %%n<40>; .reg .pred %%q, %%u; .reg .b32 %%c0, %%c1;");
  }
}
