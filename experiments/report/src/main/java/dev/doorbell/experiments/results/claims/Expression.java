package dev.doorbell.experiments.results.claims;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * Evaluates what a claim states: numbers, the four operations, brackets, functions of numbers such
 * as {@code little(64, 512, 1000)}, and selections from a run or a prediction such as {@code
 * latency{path=pull, size=8}}.
 */
public final class Expression {
  private static final int DEEPEST = 64;
  private static final String STOPS = " \t\r\n+-*/(){},=";

  private final String text;
  private final Names names;
  private int at;
  private int depth;

  private Expression(String text, Names names) {
    this.text = text;
    this.names = names;
  }

  /** What names in an expression mean. */
  public interface Names {
    /** A function of numbers. */
    double call(String function, List<Double> arguments) throws Unknown;

    /** A value that is chosen by settings; without any for a bare name. */
    double select(String name, SequencedMap<String, String> settings) throws Unknown;
  }

  /** A text that is no expression, or a name that means nothing. */
  public static final class Unknown extends Exception {
    private static final long serialVersionUID = 1L;

    public Unknown(String message) {
      super(message);
    }

    /** Why. */
    public String why() {
      return String.valueOf(getMessage());
    }
  }

  /**
   * The value of an expression.
   *
   * @throws Unknown when it has none
   */
  public static double value(String text, Names names) throws Unknown {
    Expression reader = new Expression(text, names);
    double value = reader.sum();
    reader.blanks();
    if (reader.at < text.length()) {
      throw reader.nonsense();
    }
    return value;
  }

  /** What is wrong with a text, whatever its names mean. */
  static Optional<String> problem(String text) {
    Names anything =
        new Names() {
          @Override
          public double call(String function, List<Double> arguments) {
            return 1;
          }

          @Override
          public double select(String name, SequencedMap<String, String> settings) {
            return 1;
          }
        };
    try {
      value(text, anything);
      return Optional.empty();
    } catch (Unknown e) {
      return Optional.of(e.why());
    }
  }

  private double sum() throws Unknown {
    double value = product();
    while (true) {
      if (accept('+')) {
        value += product();
      } else if (accept('-')) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  private double product() throws Unknown {
    double value = factor();
    while (true) {
      if (accept('*')) {
        value *= factor();
      } else if (accept('/')) {
        value /= factor();
      } else {
        return value;
      }
    }
  }

  private double factor() throws Unknown {
    if (++depth > DEEPEST) {
      throw new Unknown("more than %d levels of nesting".formatted(DEEPEST));
    }
    double value = innermost();
    depth--;
    return value;
  }

  private double innermost() throws Unknown {
    if (accept('-')) {
      return -factor();
    }
    if (accept('(')) {
      double value = sum();
      expect(')');
      return value;
    }
    String word = word();
    if (word.isEmpty()) {
      throw nonsense();
    }
    if (Character.isDigit(word.charAt(0)) || word.charAt(0) == '.') {
      try {
        return Double.parseDouble(word);
      } catch (NumberFormatException _) {
        throw new Unknown("'%s' in '%s' is no number".formatted(word, text));
      }
    }
    if (accept('(')) {
      return names.call(word, arguments());
    }
    return names.select(word, accept('{') ? settings() : new LinkedHashMap<>());
  }

  private List<Double> arguments() throws Unknown {
    List<Double> arguments = new ArrayList<>();
    if (accept(')')) {
      return arguments;
    }
    do {
      arguments.add(sum());
    } while (accept(','));
    expect(')');
    return arguments;
  }

  private SequencedMap<String, String> settings() throws Unknown {
    SequencedMap<String, String> settings = new LinkedHashMap<>();
    do {
      String name = word();
      expect('=');
      String value = value();
      if (name.isEmpty() || value.isEmpty()) {
        throw nonsense();
      }
      settings.put(name, value);
    } while (accept(','));
    expect('}');
    return settings;
  }

  private String word() {
    blanks();
    int start = at;
    while (at < text.length() && STOPS.indexOf(text.charAt(at)) < 0) {
      at++;
    }
    return text.substring(start, at);
  }

  /** Values of settings may hold hyphens, which are no minus there. */
  private String value() {
    blanks();
    int start = at;
    while (at < text.length() && ",} ".indexOf(text.charAt(at)) < 0) {
      at++;
    }
    return text.substring(start, at);
  }

  private boolean accept(char c) {
    blanks();
    if (at < text.length() && text.charAt(at) == c) {
      at++;
      return true;
    }
    return false;
  }

  private void expect(char c) throws Unknown {
    if (!accept(c)) {
      throw nonsense();
    }
  }

  private void blanks() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private Unknown nonsense() {
    return new Unknown("'%s' makes no sense from '%s'".formatted(text, text.substring(at)));
  }
}
