package dev.doorbell.core.problem;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Commands of this program as its user types them, so that they can be copied from a message. */
public final class Typed {
  private static final String NAME = "doorbell";

  /** The name before a command or an option; other doorbells are bells. */
  private static final Pattern COMMAND =
      Pattern.compile(
          "(?<![\\w./-])doorbell (?=--|(?:bench|bundle|calibrate|coll|compare|completion|decode|"
              + "demo|describe|docs|doctor|exec|explain|explore|format|gate|hca|kernel|list|package|paper|plot|predict|report|"
              + "run|show|table|test|topo|validate|validate-model|verify)\\b)");

  private static final Pattern PLAIN = Pattern.compile("[\\w./:,=@%+-]+");

  private Typed() {}

  /** Returns the name by which this program was started, such as {@code ./doorbell}. */
  public static String program() {
    return System.getProperty("doorbell.program", NAME);
  }

  /** Returns a text with the commands in it as the user types them. */
  public static String in(String text) {
    return text.contains(NAME)
        ? COMMAND.matcher(text).replaceAll(Matcher.quoteReplacement(program() + " "))
        : text;
  }

  /** Returns a command of these words, quoted as a shell needs it. */
  public static String command(List<String> words) {
    return program() + words.stream().map(word -> " " + quoted(word)).collect(Collectors.joining());
  }

  private static String quoted(String word) {
    return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
