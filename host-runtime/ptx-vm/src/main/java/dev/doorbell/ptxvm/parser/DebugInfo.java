package dev.doorbell.ptxvm.parser;

import dev.doorbell.ptxvm.parser.TokenStream.Token;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Gathers what the whole file says for its {@code .loc} lines: names of files and of inlined
 * functions. nvcc writes both behind the functions that need them, so they are gathered beforehand.
 */
final class DebugInfo {
  private final Map<Integer, String> files = new HashMap<>();
  private final Map<String, Integer> labels = new HashMap<>();
  private final StringBuilder strings = new StringBuilder();

  private DebugInfo() {}

  static DebugInfo of(List<Token> tokens) {
    DebugInfo info = new DebugInfo();
    for (int i = 0; i + 2 < tokens.size(); i++) {
      if (tokens.get(i).dot("file")) {
        info.file(tokens.get(i + 1), tokens.get(i + 2));
      } else if (tokens.get(i).dot("section") && tokens.get(i + 1).dot("debug_str")) {
        info.section(tokens.subList(i + 2, tokens.size()));
      }
    }
    return info;
  }

  private void file(Token number, Token path) {
    if (number.kind() == Token.Kind.NUMBER
        && number.text().length() < 9
        && number.text().chars().allMatch(Character::isDigit)) {
      files.put(Integer.parseInt(number.text()), path.text());
    }
  }

  /** {@code { label: .b8 95,90,0 ... }}: bytes of strings that end with 0. */
  private void section(List<Token> tokens) {
    String name = "";
    for (Token token : tokens) {
      if (token.is("}")) {
        return;
      }
      if (token.kind() == Token.Kind.NAME) {
        name = token.text();
      } else if (token.is(":")) {
        labels.put(name, strings.length());
      } else if (token.kind() == Token.Kind.NUMBER && token.text().length() <= 3) {
        strings.append((char) (number(token.text()) & 0xff));
      }
    }
  }

  private static int number(String text) {
    return text.chars().allMatch(Character::isDigit) ? Integer.parseInt(text) : 0;
  }

  String file(int number) {
    return files.getOrDefault(number, "file" + number);
  }

  /** The string that begins {@code offset} bytes behind a label; nothing when there is none. */
  String text(String label, long offset) {
    long from = labels.getOrDefault(label, strings.length()) + offset;
    if (from < 0 || from >= strings.length()) {
      return "";
    }
    int end = strings.indexOf("\0", (int) from);
    byte[] bytes =
        strings
            .substring((int) from, end < 0 ? strings.length() : end)
            .getBytes(StandardCharsets.ISO_8859_1);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
