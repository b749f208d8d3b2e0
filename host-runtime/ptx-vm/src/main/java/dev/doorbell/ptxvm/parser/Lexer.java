package dev.doorbell.ptxvm.parser;

import dev.doorbell.ptxvm.parser.TokenStream.Token;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Cuts PTX into tokens; comments vanish. Never fails: a stray character is a token of its own. */
final class Lexer {
  private final String text;
  private final List<Token> tokens = new ArrayList<>();
  private final @Nullable String[] words = new String[1 << 12];
  private final boolean skipsBodies;
  private int at;
  private int line;
  private boolean inFunction;

  private Lexer(String text, int line, boolean skipsBodies) {
    this.text = text;
    this.line = line;
    this.skipsBodies = skipsBodies;
  }

  /**
   * The tokens of a text.
   *
   * @param first number of its first line
   */
  static List<Token> tokens(String text, int first) {
    return tokens(text, first, false);
  }

  /**
   * The tokens of a text.
   *
   * @param skipsBodies the body of each function is one token, whose text it is
   */
  static List<Token> tokens(String text, int first, boolean skipsBodies) {
    Lexer lexer = new Lexer(text, first, skipsBodies);
    lexer.run();
    return lexer.tokens;
  }

  private void run() {
    boolean joined = false;
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '\n') {
        line++;
        at++;
        joined = false;
      } else if (c <= ' ') {
        at++;
        joined = false;
      } else if (c == '/' && text.startsWith("//", at)) {
        int end = text.indexOf('\n', at);
        at = end < 0 ? text.length() : end;
        joined = false;
      } else if (c == '/' && text.startsWith("/*", at)) {
        skipComment();
        joined = false;
      } else if (c == '{' && inFunction) {
        body();
        joined = false;
      } else {
        token(c, joined);
        joined = true;
      }
    }
    tokens.add(new Token(Token.Kind.END, "", line, false));
  }

  private void skipComment() {
    int end = text.indexOf("*/", at + 2);
    int stop = end < 0 ? text.length() : end + 2;
    for (; at < stop; at++) {
      if (text.charAt(at) == '\n') {
        line++;
      }
    }
  }

  /** A function's body, up to the brace that closes it. */
  private void body() {
    int start = at;
    int first = line;
    int depth = 0;
    do {
      char c = text.charAt(at);
      if (c == '/' && text.startsWith("//", at)) {
        int end = text.indexOf('\n', at);
        at = end < 0 ? text.length() : end;
      } else if (c == '/' && text.startsWith("/*", at)) {
        skipComment();
      } else if (c == '"') {
        skipString();
        at++;
      } else {
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        line += c == '\n' ? 1 : 0;
        at++;
      }
    } while (depth > 0 && at < text.length());
    inFunction = false;
    int end = Math.min(at, text.length());
    tokens.add(new Token(Token.Kind.BODY, text.substring(start, end), first, false));
  }

  private void skipString() {
    at++;
    while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\n') {
      at += text.charAt(at) == '\\' && at + 1 < text.length() ? 2 : 1;
    }
  }

  private void token(char c, boolean joined) {
    int start = at;
    if (c == '.' && at + 1 < text.length() && isWord(text.charAt(at + 1))) {
      at++;
      skipDotted();
      add(Token.Kind.DOT, word(start + 1, at), joined);
    } else if (isDigit(c)) {
      skipNumber();
      add(Token.Kind.NUMBER, word(start, at), joined);
    } else if (isWord(c) || c == '%') {
      at++;
      skipWord();
      add(Token.Kind.NAME, word(start, at), joined);
    } else if (c == '"') {
      skipString();
      int end = Math.min(at, text.length());
      at = Math.min(at + 1, text.length());
      if (end < text.length() && text.charAt(end) == '\n') {
        at = end;
      }
      add(Token.Kind.STRING, text.substring(start + 1, end), joined);
    } else {
      at++;
      add(Token.Kind.SYMBOL, word(start, at), joined);
    }
  }

  /** A part of the text; words come again and again, and each is one string. */
  private String word(int from, int to) {
    int hash = 0;
    for (int i = from; i < to; i++) {
      hash = 31 * hash + text.charAt(i);
    }
    int slot = (hash ^ hash >>> 15) & words.length - 1;
    String known = words[slot];
    if (known != null && known.length() == to - from && text.startsWith(known, from)) {
      return known;
    }
    String word = text.substring(from, to);
    words[slot] = word;
    return word;
  }

  private void add(Token.Kind kind, String word, boolean joined) {
    if (skipsBodies) {
      boolean header = kind == Token.Kind.DOT && (word.equals("func") || word.equals("entry"));
      inFunction = header || (inFunction && !word.equals(";"));
    }
    tokens.add(new Token(kind, word, line, joined));
  }

  private void skipWord() {
    while (at < text.length() && isWord(text.charAt(at))) {
      at++;
    }
  }

  /** A modifier may hold colons: {@code L1::no_allocate}. */
  private void skipDotted() {
    skipWord();
    while (text.startsWith("::", at) && at + 2 < text.length() && isWord(text.charAt(at + 2))) {
      at += 2;
      skipWord();
    }
  }

  private void skipNumber() {
    skipWord();
    if (at + 1 < text.length() && text.charAt(at) == '.' && isDigit(text.charAt(at + 1))) {
      at++;
      skipWord();
    }
    char last = Character.toLowerCase(text.charAt(at - 1));
    boolean exponent = last == 'e' && at < text.length() && "+-".indexOf(text.charAt(at)) >= 0;
    if (exponent && text.charAt(at - 1) != 'x' && !isHexadecimal()) {
      at++;
      skipWord();
    }
  }

  private boolean isHexadecimal() {
    int i = at - 1;
    while (i > 0 && isWord(text.charAt(i - 1))) {
      i--;
    }
    return text.charAt(i) == '0'
        && i + 1 < text.length()
        && "xXfFdD".indexOf(text.charAt(i + 1)) >= 0;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  private static boolean isWord(char c) {
    return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
  }
}
