package dev.doorbell.experiments.papers;

/** Evaluates numbers, the four operations and brackets, as the claims of a write-up use them. */
final class Arithmetic {

  private final String text;
  private int at;

  private Arithmetic(String text) {
    this.text = text.replace(" ", "");
  }

  static double value(String expression) {
    Arithmetic reader = new Arithmetic(expression);
    double value = reader.sum();
    if (reader.at < reader.text.length()) {
      throw new IllegalArgumentException(
          "'" + expression + "' makes no sense from '" + reader.text.substring(reader.at) + "'");
    }
    return value;
  }

  private double sum() {
    double value = product();
    while (at < text.length() && "+-".indexOf(text.charAt(at)) >= 0) {
      value = text.charAt(at++) == '+' ? value + product() : value - product();
    }
    return value;
  }

  private double product() {
    double value = factor();
    while (at < text.length() && "*/".indexOf(text.charAt(at)) >= 0) {
      value = text.charAt(at++) == '*' ? value * factor() : value / factor();
    }
    return value;
  }

  private double factor() {
    if (at < text.length() && text.charAt(at) == '(') {
      at++;
      double value = sum();
      if (at >= text.length() || text.charAt(at++) != ')') {
        throw new IllegalArgumentException("'" + text + "' lacks a bracket");
      }
      return value;
    }
    int start = at;
    while (at < text.length() && "0123456789.".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return Double.parseDouble(text.substring(start, at));
  }
}
