package dev.doorbell.interop.control;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.regex.Pattern;

/**
 * One message: a verb and named values, as {@code connect hca=10.0.0.1 qpn=256}. Values are
 * percent-encoded, so that a line is ASCII and spaces separate values.
 *
 * @param verb lower-case letters
 * @param values by name, in order
 */
public record ControlLine(String verb, SequencedMap<String, String> values) {
  private static final Pattern WORD = Pattern.compile("[a-z][a-z0-9_.]{0,63}");
  private static final String OK = "ok";
  private static final String ERROR = "error";
  private static final String WHAT = "what";

  /** A message is malformed, or requests something impossible; its text says why. */
  public static final class Refused extends Exception {
    private static final long serialVersionUID = 1L;

    public Refused(String why) {
      super(why);
    }
  }

  /** A message without values. */
  public static ControlLine of(String verb) {
    return new ControlLine(verb, new LinkedHashMap<>());
  }

  /** The positive answer. */
  public static ControlLine ok() {
    return of(OK);
  }

  /** The negative answer with its reason. */
  public static ControlLine error(String why) {
    return of(ERROR).with(WHAT, why);
  }

  /**
   * This message with one more value.
   *
   * @param name a lower-case letter, then letters, digits, underscores and dots
   */
  public ControlLine with(String name, Object value) {
    if (!WORD.matcher(name).matches()) {
      throw new IllegalArgumentException("illegal name of a value: '%s'".formatted(name));
    }
    SequencedMap<String, String> more = new LinkedHashMap<>(values);
    more.put(name, value.toString());
    return new ControlLine(verb, more);
  }

  /**
   * Reads a line.
   *
   * @throws Refused when the line is malformed
   */
  public static ControlLine parse(String line) throws Refused {
    String[] words = line.strip().split(" +", -1);
    if (!WORD.matcher(words[0]).matches()) {
      throw new Refused("a message begins with a verb");
    }
    SequencedMap<String, String> values = new LinkedHashMap<>();
    for (int i = 1; i < words.length; i++) {
      int equals = words[i].indexOf('=');
      String name = equals < 0 ? words[i] : words[i].substring(0, equals);
      if (equals < 0 || !WORD.matcher(name).matches()) {
        throw new Refused("after the verb come name=value");
      }
      try {
        String value = URLDecoder.decode(words[i].substring(equals + 1), StandardCharsets.UTF_8);
        if (values.put(name, value) != null) {
          throw new Refused("'%s' is given twice".formatted(name));
        }
      } catch (IllegalArgumentException e) {
        throw new Refused("the value of '%s' is not percent-encoded".formatted(name));
      }
    }
    return new ControlLine(words[0], values);
  }

  /** The line, without its end. */
  public String text() {
    StringBuilder text = new StringBuilder(verb);
    for (Map.Entry<String, String> value : values.entrySet()) {
      text.append(' ')
          .append(value.getKey())
          .append('=')
          .append(URLEncoder.encode(value.getValue(), StandardCharsets.UTF_8));
    }
    return text.toString();
  }

  /** True for {@link #error}. */
  public boolean isError() {
    return verb.equals(ERROR);
  }

  /** The reason of a negative answer. */
  public String why() {
    return values.getOrDefault(WHAT, "no reason was given");
  }

  /**
   * The value called {@code name}.
   *
   * @throws Refused when there is none
   */
  public String word(String name) throws Refused {
    String value = values.get(name);
    if (value == null) {
      throw new Refused("'%s' needs %s=".formatted(verb, name));
    }
    return value;
  }

  /**
   * The whole number called {@code name}, decimal or {@code 0x}.
   *
   * @throws Refused when it is missing or not in [least, most]
   */
  public long number(String name, long least, long most) throws Refused {
    String text = word(name);
    try {
      long value = Long.decode(text);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below, as a number out of range is.
    }
    throw new Refused(
        "%s=%s: a whole number from %d to %d is needed"
            .formatted(name, text.substring(0, Math.min(32, text.length())), least, most));
  }

  /** Returns a number like {@link #number(String, long, long)}, or a default. */
  public long number(String name, long least, long most, long otherwise) throws Refused {
    return values.containsKey(name) ? number(name, least, most) : otherwise;
  }
}
