package dev.doorbell.experiments.config.formula;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.config.formula.Node.Operator;
import dev.doorbell.experiments.config.value.Sizes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * A formula over named numbers, with the operators of C, such as {@code size / 4 * ranks} or {@code
 * sum(p, ranks, input(p, i))}.
 *
 * <p>{@code sum}, {@code product}, {@code minimum} and {@code maximum} take a name, how many values
 * it has from 0, and a term; {@code NAME(rank, index)} is an element of a buffer.
 */
public final class Formula {
  /** The rank whose buffer a formula is about. */
  public static final String RANK = "rank";

  /** The index of an element in its buffer. */
  public static final String INDEX = "i";

  /** The formula of nothing. */
  public static final Formula ZERO = new Formula("0", new Node.Literal(0));

  /** Names that {@code sum} and its like may bind inside each other. */
  static final int MOST_BOUND = 8;

  private static final int DEEPEST = 64;
  private static final Map<String, Operator> FOLDS =
      Map.of(
          "sum", Operator.PLUS,
          "product", Operator.TIMES,
          "minimum", Operator.MIN,
          "maximum", Operator.MAX);
  private static final List<String> FUNCTIONS = List.of("min", "max", "abs", "random");
  private static final Names NO_NAMES = new Names(List.of(), List.of());
  private static final Frame NO_VALUES = new Frame(NO_NAMES, 0);

  private final String text;
  private final Node root;

  private Formula(String text, Node root) {
    this.text = text;
    this.root = root;
  }

  /**
   * Names that a formula may use.
   *
   * @param variables numbers
   * @param arrays elements by rank and index
   */
  public record Names(List<String> variables, List<String> arrays) {
    public Names {
      variables = List.copyOf(variables);
      arrays = List.copyOf(arrays);
    }
  }

  /** Meanings of names that a formula does not bring: selections from results, other functions. */
  public interface Lookup {
    double call(String function, List<Double> arguments) throws FormulaException;

    /**
     * Returns a value that is chosen by settings.
     *
     * @param settings as in {@code latency{path=pull, size=8}}; empty for a bare name
     */
    double select(String name, SequencedMap<String, String> settings) throws FormulaException;
  }

  /** Words that mean something in every formula, and that nothing else can be named. */
  public static List<String> reserved() {
    List<String> words = new ArrayList<>(FUNCTIONS);
    words.addAll(FOLDS.keySet());
    return words;
  }

  /** Reads a formula. */
  public static Formula parse(String text, Names names) throws FormulaException {
    return parse(new Parser(text, names, null));
  }

  /** Returns the value in double precision of a formula; {@code names} resolves its names. */
  public static double value(String text, Lookup lookup) throws FormulaException {
    return parse(new Parser(text, NO_NAMES, lookup)).real(NO_VALUES);
  }

  private static Formula parse(Parser parser) throws FormulaException {
    Node root = parser.choice();
    parser.blanks();
    if (parser.at < parser.text.length()) {
      throw parser.nonsense();
    }
    return new Formula(parser.text, root);
  }

  /** The value in 64-bit signed arithmetic. */
  public long whole(Frame frame) throws FormulaException {
    try {
      return root.whole(frame);
    } catch (ArithmeticException | IndexOutOfBoundsException e) {
      throw undefined(e);
    }
  }

  /** The value in double precision. */
  public double real(Frame frame) throws FormulaException {
    try {
      return root.real(frame);
    } catch (ArithmeticException | IndexOutOfBoundsException e) {
      throw undefined(e);
    }
  }

  private FormulaException undefined(RuntimeException e) {
    return new FormulaException("'%s' has no value: %s".formatted(text, e.getMessage()));
  }

  @Override
  public String toString() {
    return text;
  }

  private static final class Parser {
    private final String text;
    private final Names names;
    private final @Nullable Lookup lookup;
    private final List<String> bound = new ArrayList<>();
    private int at;
    private int depth;

    Parser(String text, Names names, @Nullable Lookup lookup) {
      this.text = text;
      this.names = names;
      this.lookup = lookup;
    }

    private Node choice() throws FormulaException {
      if (++depth > DEEPEST) {
        throw new FormulaException("more than %d levels of brackets".formatted(DEEPEST));
      }
      Node node = operations(1);
      if (accept("?")) {
        Node then = choice();
        expect(":");
        node = new Node.Choice(node, then, choice());
      }
      depth--;
      return node;
    }

    private Node operations(int binding) throws FormulaException {
      Node left = operand();
      while (true) {
        blanks();
        Optional<Operator> operator = Operator.between(text, at);
        if (operator.isEmpty() || operator.get().binding() < binding) {
          return left;
        }
        at += operator.get().text().length();
        left = new Node.Operation(operator.get(), left, operations(operator.get().binding() + 1));
      }
    }

    private Node operand() throws FormulaException {
      for (Operator operator : List.of(Operator.NEGATE, Operator.NOT, Operator.COMPLEMENT)) {
        if (accept(operator.text())) {
          if (++depth > DEEPEST) {
            throw new FormulaException("more than %d operators in a row".formatted(DEEPEST));
          }
          Node of = operand();
          depth--;
          return new Node.Operation(operator, of, of);
        }
      }
      if (accept("(")) {
        Node inner = choice();
        expect(")");
        return inner;
      }
      String word = word();
      if (word.isEmpty()) {
        throw nonsense();
      }
      if (Character.isDigit(word.charAt(0)) || word.charAt(0) == '.') {
        return number(word);
      }
      return accept("(") ? call(word) : variable(word);
    }

    private Node number(String word) throws FormulaException {
      OptionalLong size = Sizes.parse(word);
      if (size.isPresent()) {
        return new Node.Literal(size.getAsLong());
      }
      try {
        return new Node.Literal(Double.parseDouble(word));
      } catch (NumberFormatException _) {
        throw new FormulaException("'%s' in '%s' is no number".formatted(word, text));
      }
    }

    private Node variable(String word) throws FormulaException {
      if (lookup != null) {
        return new Node.Literal(lookup.select(word, settings()));
      }
      int inner = bound.lastIndexOf(word);
      int place = inner >= 0 ? names.variables().size() + inner : names.variables().indexOf(word);
      if (place < 0) {
        List<String> known = new ArrayList<>(names.variables());
        known.addAll(bound);
        throw unknown("number", word, known);
      }
      return new Node.Variable(place);
    }

    private SequencedMap<String, String> settings() throws FormulaException {
      SequencedMap<String, String> settings = new LinkedHashMap<>();
      if (accept("{")) {
        do {
          String name = word();
          expect("=");
          blanks();
          int start = at;
          while (at < text.length() && ",} ".indexOf(text.charAt(at)) < 0) {
            at++;
          }
          if (name.isEmpty() || at == start) {
            throw nonsense();
          }
          settings.put(name, text.substring(start, at));
        } while (accept(","));
        expect("}");
      }
      return settings;
    }

    private Node call(String function) throws FormulaException {
      Operator fold = FOLDS.get(function);
      if (fold != null && lookup == null) {
        return fold(fold);
      }
      List<Node> arguments = new ArrayList<>();
      blanks();
      while (arguments.isEmpty() ? lookup == null || !text.startsWith(")", at) : accept(",")) {
        arguments.add(choice());
      }
      expect(")");
      if (lookup != null && !function.equals("min") && !function.equals("max")) {
        List<Double> values = arguments.stream().map(node -> node.real(NO_VALUES)).toList();
        return new Node.Literal(lookup.call(function, values));
      }
      int array = names.arrays().indexOf(function);
      if (array >= 0) {
        demand(function, arguments, 2);
        return new Node.Element(array, arguments.get(0), arguments.get(1));
      }
      return switch (function) {
        case "min", "max" -> {
          demand(function, arguments, 2);
          Operator operator = function.equals("min") ? Operator.MIN : Operator.MAX;
          yield new Node.Operation(operator, arguments.get(0), arguments.get(1));
        }
        case "abs" -> {
          demand(function, arguments, 1);
          yield new Node.Operation(Operator.ABSOLUTE, arguments.get(0), arguments.get(0));
        }
        case "random" -> {
          demand(function, arguments, 1);
          yield new Node.Random(arguments.get(0));
        }
        default -> {
          List<String> known = new ArrayList<>(names.arrays());
          known.addAll(reserved());
          throw unknown("function or buffer", function, known);
        }
      };
    }

    private Node fold(Operator operator) throws FormulaException {
      String name = word();
      if (name.isEmpty() || !Character.isLetter(name.charAt(0))) {
        throw nonsense();
      }
      expect(",");
      Node count = choice();
      expect(",");
      if (bound.size() == MOST_BOUND) {
        throw new FormulaException("more than %d sums inside each other".formatted(MOST_BOUND));
      }
      bound.add(name);
      int place = names.variables().size() + bound.size() - 1;
      Node term = choice();
      bound.removeLast();
      expect(")");
      return new Node.Fold(operator, place, count, term);
    }

    private void demand(String function, List<Node> arguments, int wanted) throws FormulaException {
      if (arguments.size() != wanted) {
        throw new FormulaException(
            "%s takes %d %s, and '%s' gives it %d"
                .formatted(
                    function,
                    wanted,
                    wanted == 1 ? "argument" : "arguments, a rank and an index for a buffer",
                    text,
                    arguments.size()));
      }
    }

    private FormulaException unknown(String what, String word, List<String> known) {
      String near = Nearest.suggestion(word, known);
      return new FormulaException(
          "'%s' names no %s%s"
              .formatted(
                  word, what, near.isEmpty() ? "  - known: " + String.join(", ", known) : near));
    }

    private String word() {
      blanks();
      int start = at;
      while (at < text.length()
          && (Character.isLetterOrDigit(text.charAt(at)) || "_.".indexOf(text.charAt(at)) >= 0)) {
        at++;
      }
      return text.substring(start, at);
    }

    private boolean accept(String what) {
      blanks();
      if (text.startsWith(what, at)) {
        at += what.length();
        return true;
      }
      return false;
    }

    private void expect(String what) throws FormulaException {
      if (!accept(what)) {
        throw nonsense();
      }
    }

    private void blanks() {
      while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
        at++;
      }
    }

    private FormulaException nonsense() {
      return new FormulaException(
          at == text.length()
              ? "'%s' ends too early".formatted(text)
              : "'%s' makes no sense from '%s'".formatted(text, text.substring(at)));
    }
  }

  public static final class FormulaException extends Exception {
    private static final long serialVersionUID = 1L;

    public FormulaException(String message) {
      super(message);
    }

    public String why() {
      return String.valueOf(getMessage());
    }
  }
}
