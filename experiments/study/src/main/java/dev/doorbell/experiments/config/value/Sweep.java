package dev.doorbell.experiments.config.value;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The short ways to write many numbers: {@code pow2(8,1M)} doubles from the first to the last,
 * {@code range(1,8)} and {@code range(0,64,16)} count.
 */
public final class Sweep {
  private static final Pattern CALL = Pattern.compile("(pow2|range)\\((.*)\\)");
  private static final int MOST_VALUES = 10_000;

  private Sweep() {}

  /** Result of parsing: numbers, or the reason why there are none. */
  public sealed interface Result {
    record Numbers(List<Long> numbers) implements Result {}

    record Wrong(String reason) implements Result {}
  }

  /** Returns whether the text is meant to be a sweep. */
  public static boolean isCall(String text) {
    return CALL.matcher(text).matches();
  }

  /** A number, a number with a suffix, or a sweep. */
  public static Result parse(String text) {
    Matcher call = CALL.matcher(text);
    if (!call.matches()) {
      OptionalLong number = Sizes.parse(text);
      return number.isPresent()
          ? new Result.Numbers(List.of(number.getAsLong()))
          : new Result.Wrong("'%s' is not a number such as 64, 4K or 1M".formatted(text));
    }
    List<Long> arguments = new ArrayList<>();
    for (String argument : call.group(2).split(",", -1)) {
      OptionalLong number = Sizes.parse(argument.strip());
      if (number.isEmpty()) {
        return new Result.Wrong(
            "'%s' in %s is not a number such as 64, 4K or 1M".formatted(argument.strip(), text));
      }
      arguments.add(number.getAsLong());
    }
    boolean doubling = call.group(1).equals("pow2");
    if (arguments.size() < 2 || arguments.size() > (doubling ? 2 : 3)) {
      return new Result.Wrong(
          doubling
              ? "%s must be pow2(first, last)".formatted(text)
              : "%s must be range(first, last) or range(first, last, step)".formatted(text));
    }
    long step = arguments.size() == 3 ? arguments.get(2) : 1;
    return expand(text, doubling, arguments.get(0), arguments.get(1), step);
  }

  private static Result expand(String text, boolean doubling, long first, long last, long step) {
    if (first > last) {
      return new Result.Wrong("%s starts after its end".formatted(text));
    }
    if (doubling && first == 0) {
      return new Result.Wrong("%s doubles zero, which gets nowhere".formatted(text));
    }
    if (step == 0) {
      return new Result.Wrong("%s has a step of zero".formatted(text));
    }
    List<Long> numbers = new ArrayList<>();
    long number = first;
    while (number <= last) {
      if (numbers.size() == MOST_VALUES) {
        return new Result.Wrong("%s has more than %,d values".formatted(text, MOST_VALUES));
      }
      numbers.add(number);
      long increment = doubling ? number : step;
      if (number > last - increment) {
        break;
      }
      number += increment;
    }
    return new Result.Numbers(numbers);
  }

  /** Returns the parts of a text between the commas outside of brackets, without blanks around. */
  public static List<String> split(String text) {
    List<String> parts = new ArrayList<>();
    int depth = 0;
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      depth += "([{".indexOf(c) >= 0 ? 1 : ")]}".indexOf(c) >= 0 ? -1 : 0;
      if (c == ',' && depth == 0) {
        parts.add(text.substring(start, i).strip());
        start = i + 1;
      }
    }
    parts.add(text.substring(start).strip());
    return parts;
  }
}
