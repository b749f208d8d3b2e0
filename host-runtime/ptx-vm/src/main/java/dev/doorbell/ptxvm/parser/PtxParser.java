package dev.doorbell.ptxvm.parser;

import dev.doorbell.core.agent.PtxFiles;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Refusal;
import dev.doorbell.ptxvm.ir.SourceLine;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.ir.Variable.StateSpace;
import dev.doorbell.ptxvm.parser.TokenStream.SyntaxException;
import dev.doorbell.ptxvm.parser.TokenStream.Token;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Parses a PTX file into the decoded model. Whatever is wrong is collected, so that one load names
 * every line that has to change.
 */
public final class PtxParser {
  /**
   * For each major version of PTX ISA, the last minor version there was (release notes of PTX ISA).
   */
  private static final int[] LAST_MINOR = {-1, 5, 3, 2, 3, 0, 5, 8, 8, 2};

  private final List<String> lines;
  private final int before;
  private final TokenStream tokens;
  private final VariableParser variables;
  private final List<Refusal> refusals = new ArrayList<>();
  private final Map<String, Function> functions = new LinkedHashMap<>();
  private final Map<String, Variable> globals = new LinkedHashMap<>();
  private final DebugInfo debug;
  private final Map<String, ModuleLinker.Symbol> symbols = new LinkedHashMap<>();

  /** True if other files may define what this one declares. */
  private final boolean linked;

  /** Bodies of functions of longer texts are parsed when something needs them. */
  private static final int MOST_AT_ONCE = 1 << 20;

  private ModuleLinker.Linkage linkage = ModuleLinker.Linkage.LOCAL;
  private String version = "";
  private String target = "";

  /**
   * @param before lines of other files before this one's
   */
  private PtxParser(String ptx, int before, boolean linked, boolean late) {
    this.lines = new TextLines(ptx);
    this.before = before;
    this.linked = linked;
    List<Token> all = Lexer.tokens(ptx, before + 1, late);
    this.tokens = new TokenStream(all);
    this.debug = DebugInfo.of(all);
    this.variables = new VariableParser(tokens);
  }

  /** Result of parsing a file: the module, and what is wrong with it. */
  public record Result(PtxModule module, List<Refusal> refusals) {}

  /**
   * Parses {@code ptx}, and links its files where it has several ({@link PtxFiles}).
   *
   * @param name for messages, usually the file's name
   */
  public static Result parse(String name, String ptx) {
    List<PtxFiles.Part> parts = PtxFiles.split(name, ptx);
    boolean late = ptx.length() > MOST_AT_ONCE;
    if (parts.size() == 1) {
      PtxParser parser = new PtxParser(ptx, 0, false, late);
      parser.module();
      return parser.result(name);
    }
    ModuleLinker linker = new ModuleLinker(name, new TextLines(ptx));
    for (PtxFiles.Part part : parts) {
      PtxParser parser = new PtxParser(part.text(), part.before(), true, late);
      parser.module();
      Result parsed = parser.result(part.name());
      linker.add(parsed.module(), parsed.refusals(), parser.symbols);
    }
    return linker.link();
  }

  private Result result(String name) {
    return new Result(
        new PtxModule(
            name,
            version,
            target,
            functions,
            List.copyOf(globals.values()),
            lines,
            List.of(new PtxModule.File(name, before))),
        refusals);
  }

  private void module() {
    while (!tokens.atEnd()) {
      int before = tokens.position();
      try {
        statement();
      } catch (SyntaxException e) {
        refuse(e.line(), String.valueOf(e.getMessage()));
        tokens.skipStatement();
        if (tokens.peek().is("{")) {
          tokens.skipBraces();
        } else if (tokens.position() == before || tokens.peek().is("}")) {
          tokens.next();
        }
      }
    }
    if (version.isEmpty() && refusals.isEmpty()) {
      refuse(before + 1, "this is not PTX: there is no .version");
    }
    resolveNames();
  }

  private void statement() throws SyntaxException {
    linkage = ModuleLinker.Linkage.LOCAL;
    while (true) {
      Token token = tokens.next();
      if (token.kind() != Token.Kind.DOT) {
        if (token.is(";")) {
          return;
        }
        throw new SyntaxException(token.line(), "expected a directive, found " + token);
      }
      switch (token.text()) {
        case "version" -> {
          version = version(tokens.next());
          return;
        }
        case "target" -> {
          target = tokens.next().text();
          while (tokens.accept(",")) {
            tokens.next();
          }
          return;
        }
        case "address_size" -> {
          if (tokens.count() != 64) {
            throw new SyntaxException(token.line(), "only 64-bit addresses are supported");
          }
          return;
        }
        case "section" -> {
          tokens.next();
          while (!tokens.atEnd() && !tokens.peek().is("{")) {
            tokens.next();
          }
          tokens.skipBraces();
          return;
        }
        case "pragma", "alias" -> {
          tokens.skipStatement();
          return;
        }
        case "loc", "file" -> {
          tokens.skipLine(token.line());
          return;
        }
        case "visible" -> linkage = ModuleLinker.Linkage.VISIBLE;
        case "weak" -> linkage = ModuleLinker.Linkage.WEAK;
        case "common" -> linkage = ModuleLinker.Linkage.COMMON;
        case "extern" -> linkage = ModuleLinker.Linkage.EXTERN;
        case "entry" -> {
          function(true);
          return;
        }
        case "func" -> {
          function(false);
          return;
        }
        case "global", "const", "shared" -> {
          variable(token.text(), linkage);
          return;
        }
        default -> throw new SyntaxException(token.line(), "unknown directive " + token);
      }
    }
  }

  /** A version of PTX ISA that exists; a file of a later one may mean something else. */
  private static String version(Token token) throws SyntaxException {
    String[] parts = token.text().split("\\.", -1);
    boolean known = false;
    if (parts.length == 2 && token.text().matches("[0-9]\\.[0-9]")) {
      int major = Integer.parseInt(parts[0]);
      known = major < LAST_MINOR.length && Integer.parseInt(parts[1]) <= LAST_MINOR[major];
    }
    if (!known) {
      throw new SyntaxException(
          token.line(),
          "PTX ISA %s is not known; the last one that is known is %d.%d"
              .formatted(token.text(), LAST_MINOR.length - 1, LAST_MINOR[LAST_MINOR.length - 1]));
    }
    return token.text();
  }

  private boolean mayDiverge() {
    String digits = target.replaceAll("[^0-9]", "");
    String[] parts = version.split("\\.", -1);
    boolean known = parts.length == 2 && !digits.isEmpty() && digits.length() < 5;
    return known
        && Integer.parseInt(digits) >= 70
        && Integer.parseInt(parts[0]) * 10 + Integer.parseInt(parts[1]) >= 64;
  }

  private void variable(String space, ModuleLinker.Linkage as) throws SyntaxException {
    boolean external = as == ModuleLinker.Linkage.EXTERN;
    StateSpace where = StateSpace.valueOf(space.toUpperCase(Locale.ROOT));
    do {
      int line = tokens.peek().line();
      Variable variable = variables.declaration(where, external);
      Variable before = globals.get(variable.name());
      if (external && !linked && where != StateSpace.SHARED && variable.bytes() == 0) {
        refuse(
            line,
            "variable '%s' is defined in another file, and its size is not known here: link it with"
                    .formatted(variable.name())
                + " the file that defines it (--link FILE.ptx)");
      }
      if (before == null || before.external()) {
        globals.put(variable.name(), variable);
        symbols.put(variable.name(), new ModuleLinker.Symbol(as, line));
      }
    } while (tokens.accept(","));
    tokens.expect(";");
  }

  private void function(boolean entry) throws SyntaxException {
    ModuleLinker.Linkage of = linkage;
    Scope scope = new Scope(null);
    List<Variable> results = new ArrayList<>();
    Set<Variable> inRegisters = new HashSet<>();
    tokens.acceptDot("attribute");
    if (!entry && tokens.peek().is("(")) {
      results = parameters(scope, false, inRegisters);
    }
    int line = tokens.peek().line();
    String word = tokens.name();
    List<Variable> parameters =
        tokens.peek().is("(") ? parameters(scope, entry, inRegisters) : new ArrayList<>();
    Token clusters = null;
    while (!tokens.peek().is("{")
        && !tokens.peek().is(";")
        && tokens.peek().kind() != Token.Kind.BODY) {
      Token asked = performanceDirective();
      clusters = asked != null ? asked : clusters;
    }
    if (tokens.accept(";")) {
      if (functions.putIfAbsent(word, declared(word, entry, parameters, results, line)) == null) {
        symbols.put(word, new ModuleLinker.Symbol(linkage, line));
      }
      return;
    }
    Function.Content content;
    if (tokens.peek().kind() == Token.Kind.BODY) {
      Token body = tokens.next();
      Token stop = clusters;
      List<Variable> returned = results;
      content =
          Function.Content.late(
              () -> parseLate(body, scope, stop, word, parameters, returned, inRegisters));
    } else {
      content =
          Function.Content.of(
              new FunctionParser(tokens, new Context(refusals, false), scope, clusters)
                  .body(word, parameters, results, inRegisters, line));
    }
    Function earlier =
        functions.put(
            word,
            new Function(
                word, entry, List.copyOf(parameters), List.copyOf(results), content, true, line));
    symbols.put(word, new ModuleLinker.Symbol(of, line));
    if (earlier != null && earlier.defined()) {
      refuse(line, "'%s' is defined twice".formatted(word));
    }
  }

  private static Function declared(
      String name, boolean entry, List<Variable> parameters, List<Variable> results, int line) {
    return new Function(
        name, entry, parameters, results, Function.Content.of(Function.Body.NONE), false, line);
  }

  /** Parses a body when the rest of the file is known. */
  private Function.Body parseLate(
      Token body,
      Scope scope,
      @Nullable Token stop,
      String word,
      List<Variable> parameters,
      List<Variable> results,
      Set<Variable> inRegisters) {
    List<Refusal> refused = new ArrayList<>();
    TokenStream own = new TokenStream(Lexer.tokens(body.text(), body.line()));
    try {
      Function.Body parsed =
          new FunctionParser(own, new Context(refused, true), scope, stop)
              .body(word, parameters, results, inRegisters, body.line());
      resolveNames(parsed.code(), refused);
      return new Function.Body(
          parsed.registers(), parsed.locals(), parsed.shared(), parsed.code(), refused);
    } catch (SyntaxException e) {
      refuse(refused, e.line(), String.valueOf(e.getMessage()), SourceLine.NONE);
      return new Function.Body(List.of(), List.of(), List.of(), List.of(), refused);
    }
  }

  /**
   * {@code .maxntid 256, 1, 1} and the like.
   *
   * @return the one that asks for clusters of several blocks, or null
   */
  private @Nullable Token performanceDirective() throws SyntaxException {
    Token token = tokens.next();
    if (token.kind() != Token.Kind.DOT) {
      throw new SyntaxException(token.line(), "expected '{', found " + token);
    }
    switch (token.text()) {
      case "maxntid", "reqntid", "minnctapersm", "maxnctapersm", "maxnreg" -> {
        do {
          tokens.count();
        } while (tokens.accept(","));
      }
      case "pragma" -> {
        tokens.next();
        tokens.accept(";");
      }
      case "noreturn", "explicitcluster", "blocksareclusters" -> {}
      case "maxclusterrank" -> tokens.count();
      case "reqnctapercluster" -> {
        int blocks = 1;
        do {
          blocks *= tokens.count();
        } while (tokens.accept(","));
        if (blocks != 1) {
          return token;
        }
      }
      default -> throw new SyntaxException(token.line(), "unknown directive " + token);
    }
    return null;
  }

  private List<Variable> parameters(Scope scope, boolean entry, Set<Variable> inRegisters)
      throws SyntaxException {
    List<Variable> list = new ArrayList<>();
    tokens.expect("(");
    while (!tokens.accept(")")) {
      Token space = tokens.next();
      boolean register = !entry && space.dot("reg");
      if (!register && !space.dot("param")) {
        throw new SyntaxException(
            space.line(), "parameters lie in .param space here, found " + space);
      }
      Variable variable = variables.declaration(StateSpace.PARAM, false);
      if (register) {
        inRegisters.add(variable);
      }
      list.add(variable);
      scope.declare(variable.name(), new Operand.Symbol(variable, 0, false));
      if (!tokens.accept(",") && !tokens.peek().is(")")) {
        throw tokens.unexpected("',' or ')'");
      }
    }
    return list;
  }

  private void refuse(int line, String reason) {
    refuse(refusals, line, reason, SourceLine.NONE);
  }

  private void refuse(List<Refusal> to, int line, String reason, SourceLine source) {
    int own = line - before;
    String text = own >= 1 && own <= lines.size() ? lines.get(own - 1) : "";
    to.add(new Refusal(line, text, reason, source));
  }

  private @Nullable Operand find(String word) {
    Variable variable = globals.get(word);
    return variable == null ? null : new Operand.Symbol(variable, 0, false);
  }

  private final class Context implements FunctionParser.ModuleContext {
    private final List<Refusal> refused;
    private final boolean late;

    /**
     * @param refused gets what is wrong
     * @param late the rest of the file has been read
     */
    Context(List<Refusal> refused, boolean late) {
      this.refused = refused;
      this.late = late;
    }

    @Override
    public void refuse(int line, String reason, SourceLine source) {
      PtxParser.this.refuse(refused, line, reason, source);
    }

    @Override
    public @Nullable Operand find(String word) {
      return PtxParser.this.find(word);
    }

    @Override
    public String file(int number) {
      return debug.file(number);
    }

    @Override
    public String debugText(String label, long offset) {
      return debug.text(label, offset);
    }

    @Override
    public void variable(String space, boolean external) throws SyntaxException {
      if (late) {
        throw new SyntaxException(
            tokens.peek().line(),
            "a variable of the module in a function of a file of this size is not supported");
      }
      PtxParser.this.variable(
          space, external ? ModuleLinker.Linkage.EXTERN : ModuleLinker.Linkage.LOCAL);
    }

    @Override
    public boolean mayDiverge() {
      return PtxParser.this.mayDiverge();
    }
  }

  /** Names of functions and of variables that were used before their declaration. */
  private void resolveNames() {
    for (Function function : functions.values()) {
      if (!function.isLate()) {
        resolveNames(function.code(), refusals);
      }
    }
    for (Variable variable : globals.values()) {
      for (Variable.Initial part : variable.initial()) {
        if (part.value() instanceof Operand.Name unknown && !isDeclared(unknown.name())) {
          refuse(
              0,
              "'%s', in the initialiser of '%s', is not declared"
                  .formatted(unknown.name(), variable.name()));
        }
      }
    }
  }

  private void resolveNames(List<Instruction> code, List<Refusal> refused) {
    for (int i = 0; i < code.size(); i++) {
      Instruction instruction = code.get(i);
      code.set(i, instruction.with(operand -> resolve(operand, instruction, refused)));
    }
  }

  private boolean isDeclared(String word) {
    return functions.containsKey(word) || globals.containsKey(word);
  }

  private Operand resolve(Operand operand, Instruction at, List<Refusal> refused) {
    return operand instanceof Operand.Name(String word) ? resolveName(word, at, refused) : operand;
  }

  private Operand resolveName(String word, Instruction at, List<Refusal> refused) {
    if (functions.containsKey(word)) {
      return new Operand.FunctionName(word);
    }
    Operand variable = find(word);
    if (variable != null) {
      return variable;
    }
    refuse(refused, at.line(), "'%s' is not declared".formatted(word), at.source());
    return new Operand.Int(0);
  }
}
