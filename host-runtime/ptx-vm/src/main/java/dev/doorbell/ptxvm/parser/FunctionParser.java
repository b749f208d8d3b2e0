package dev.doorbell.ptxvm.parser;

import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.ScalarType;
import dev.doorbell.ptxvm.ir.SourceLine;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.ir.Variable.StateSpace;
import dev.doorbell.ptxvm.parser.TokenStream.SyntaxException;
import dev.doorbell.ptxvm.parser.TokenStream.Token;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The body of one function: scopes, declarations, labels, instructions. */
final class FunctionParser {
  private static final int MAX_REGISTERS = 1 << 20;

  /** A file that says a line is inlined into itself must not make ever longer chains. */
  private static final int MAX_INLINED = 64;

  /** nvcc nests call sequences and inline assembly once or twice. */
  private static final int MAX_NESTING = 256;

  private final TokenStream tokens;
  private final ModuleContext module;
  private final VariableParser variables;
  private final OperandParser operands;
  private final List<Register> registers = new ArrayList<>();
  private final List<Variable> locals = new ArrayList<>();
  private final List<Variable> shared = new ArrayList<>();
  private final List<Instruction> code = new ArrayList<>();

  /** For each instruction the block that it stands in, where its labels are looked up. */
  private final List<Scope> scopes = new ArrayList<>();

  private final Map<String, List<String>> branchTargets = new HashMap<>();
  private final Map<String, Operand> prototypes = new HashMap<>();
  private final Map<Variable, Operand> resultRegisters = new LinkedHashMap<>();
  private Scope scope;
  private final Map<Position, SourceLine> located = new HashMap<>();
  private SourceLine source = SourceLine.NONE;

  /** A place that {@code .loc} named, for those that were inlined there. */
  private record Position(int file, int line, int column) {}

  /**
   * @param stop the directive for which a kernel cannot be run, or null
   */
  FunctionParser(TokenStream tokens, ModuleContext module, Scope parameters, @Nullable Token stop) {
    this.tokens = tokens;
    this.module = module;
    this.variables = new VariableParser(tokens);
    this.scope = new Scope(parameters);
    this.operands = new OperandParser(tokens, this::find);
    if (stop != null) {
      append(new Instruction(stop.text(), List.of(), null, List.of(), stop.line(), source));
    }
  }

  /**
   * Parses from the opening brace to the closing one.
   *
   * @param inRegisters the parameters and results that are registers of the function
   */
  Function.Body body(
      String name,
      List<Variable> parameters,
      List<Variable> results,
      Set<Variable> inRegisters,
      int line)
      throws SyntaxException {
    tokens.expect("{");
    registerParameters(parameters, results, inRegisters, line);
    int depth = 1;
    while (depth > 0) {
      if (tokens.atEnd()) {
        throw tokens.unexpected("'}' at the end of '%s'".formatted(name));
      }
      if (tokens.accept("{")) {
        if (++depth > MAX_NESTING) {
          throw tokens.unexpected("blocks nested less deeply");
        }
        scope = new Scope(scope);
      } else if (tokens.accept("}")) {
        depth--;
        Scope outer = scope.outer();
        scope = outer == null ? scope : outer;
      } else {
        recoverably();
      }
    }
    resolveLabels();
    return new Function.Body(
        List.copyOf(registers), List.copyOf(locals), List.copyOf(shared), code, List.of());
  }

  private void recoverably() {
    int start = tokens.position();
    try {
      statement();
    } catch (SyntaxException e) {
      module.refuse(e.line(), String.valueOf(e.getMessage()), source);
      if (tokens.position() == start || !tokens.endedStatement()) {
        tokens.skipStatement();
      }
    }
  }

  private void statement() throws SyntaxException {
    Token token = tokens.peek();
    switch (token.kind()) {
      case DOT -> {
        tokens.next();
        directive(token);
      }
      case NAME -> {
        if (tokens.peek(1).is(":")) {
          label();
        } else {
          instruction();
        }
      }
      default -> {
        if (token.is("@")) {
          instruction();
        } else if (!tokens.accept(";")) {
          throw tokens.unexpected("an instruction");
        }
      }
    }
  }

  private void label() throws SyntaxException {
    int line = tokens.peek().line();
    String name = tokens.name();
    tokens.expect(":");
    if (tokens.acceptDot("branchtargets")) {
      List<String> targets = new ArrayList<>();
      do {
        targets.add(tokens.name());
      } while (tokens.accept(","));
      tokens.expect(";");
      branchTargets.put(name, targets);
    } else if (tokens.acceptDot("callprototype") || tokens.acceptDot("calltargets")) {
      prototypes.put(name, new Operand.Prototype(name));
      tokens.skipStatement();
    } else if (!scope.label(name, code.size())) {
      throw new SyntaxException(line, "label '%s' stands twice".formatted(name));
    }
  }

  private void directive(Token directive) throws SyntaxException {
    switch (directive.text()) {
      case "reg" -> registers();
      case "local" -> variable(StateSpace.LOCAL);
      case "param" -> variable(StateSpace.PARAM);
      case "shared" -> variable(StateSpace.SHARED);
      case "loc" -> location(directive.line());
      case "pragma", "maxnreg" -> tokens.skipStatement();
      case "global", "const" -> module.variable(directive.text(), false);
      default -> throw new SyntaxException(directive.line(), "unknown directive " + directive);
    }
  }

  /** {@code .loc file line column[, function_name label[+offset], inlined_at file line column]}. */
  private void location(int line) throws SyntaxException {
    Position at = position();
    String function = "";
    SourceLine inlinedAt = null;
    boolean more = tokens.accept(",");
    if (more && !tokens.peek().text().equals("function_name")) {
      tokens.skipLine(line);
    } else if (more) {
      tokens.next();
      String label = tokens.name();
      long offset = tokens.peek().is("+") ? tokens.integer() : 0;
      function = module.debugText(label, offset);
      tokens.expect(",");
      tokens.next();
      Position outer = position();
      // Where the call stands was named before, with what it was inlined into itself.
      inlinedAt = located.get(outer);
      if (inlinedAt == null) {
        inlinedAt = new SourceLine(module.file(outer.file), outer.line, outer.column);
      }
    }
    source = new SourceLine(module.file(at.file), at.line, at.column, function, inlinedAt);
    if (source.frames().size() <= MAX_INLINED) {
      located.put(at, source);
    }
  }

  private Position position() throws SyntaxException {
    return new Position(tokens.count(), tokens.count(), tokens.count());
  }

  private void registers() throws SyntaxException {
    ScalarType type = null;
    List<String> parts = List.of();
    while (tokens.peek().kind() == Token.Kind.DOT) {
      Token word = tokens.next();
      switch (word.text()) {
        case "b128" -> {
          parts = Scope.HALVES;
          type = ScalarType.B64;
        }
        case "v2" -> parts = Scope.ELEMENTS.subList(0, 2);
        case "v4" -> parts = Scope.ELEMENTS;
        default -> type = ScalarType.of(word.text());
      }
      if (type == null && parts.isEmpty()) {
        throw new SyntaxException(word.line(), "registers of type " + word + " are not supported");
      }
    }
    if (type == null) {
      throw tokens.unexpected("a type");
    }
    do {
      String name = tokens.name();
      if (tokens.accept("<")) {
        int count = tokens.count();
        if (count > MAX_REGISTERS) {
          throw tokens.unexpected("at most %d registers".formatted(MAX_REGISTERS));
        }
        tokens.expect(">");
        scope.declareFamily(name, count, type, parts);
      } else {
        scope.declare(name, Scope.make(name, type, parts, registers));
      }
    } while (tokens.accept(","));
    tokens.expect(";");
  }

  private void variable(StateSpace space) throws SyntaxException {
    int line = tokens.peek().line();
    do {
      Variable variable = variables.declaration(space, false);
      if (!variable.initial().isEmpty()) {
        throw new SyntaxException(line, "a variable here has no initialiser");
      }
      (space == StateSpace.SHARED ? shared : locals).add(variable);
      scope.declare(variable.name(), new Operand.Symbol(variable, 0, false));
    } while (tokens.accept(","));
    tokens.expect(";");
  }

  private void instruction() throws SyntaxException {
    int line = tokens.peek().line();
    Instruction.Guard guard = null;
    if (tokens.accept("@")) {
      boolean negated = tokens.accept("!");
      String name = tokens.name();
      if (!(find(name) instanceof Operand.Reg(Register register))
          || register.type() != ScalarType.PRED) {
        throw new SyntaxException(line, "'%s' is no predicate register".formatted(name));
      }
      guard = new Instruction.Guard(register, negated);
      line = tokens.peek().line();
    }
    String name = tokens.name();
    List<String> modifiers = tokens.modifiers();
    List<Operand> list = operands.list();
    tokens.expect(";");
    Instruction instruction =
        new Instruction(name, modifiers, guard, List.copyOf(list), line, source);
    String mismatch = OperandTypes.mismatch(instruction);
    if (mismatch != null) {
      throw new SyntaxException(line, mismatch);
    }
    add(instruction);
  }

  /** Adds an instruction, or the simpler ones that it stands for. */
  private void add(Instruction instruction) throws SyntaxException {
    List<Operand> operands = instruction.operands();
    switch (instruction.name()) {
      case "ret" -> storeResults(instruction);
      case "mov" -> {
        if ((instruction.has("v2") || instruction.has("v4")) && operands.size() == 2) {
          moveVector(instruction);
          return;
        }
      }
      case "vote", "shfl" -> {
        if (!instruction.has("sync")) {
          append(amongActive(instruction));
          return;
        }
      }
      default -> {}
    }
    append(instruction);
  }

  private void append(Instruction instruction) {
    code.add(instruction);
    scopes.add(scope);
  }

  /** The elements are read before any is written. */
  private void moveVector(Instruction move) throws SyntaxException {
    List<String> modifiers = new ArrayList<>(move.modifiers());
    int count = modifiers.remove("v2") ? 2 : 4;
    modifiers.remove("v4");
    ScalarType type = modifiers.isEmpty() ? null : ScalarType.of(modifiers.getLast());
    if (type == null
        || !(move.operands().getFirst() instanceof Operand.Vector(List<Operand> to))
        || !(move.operands().get(1) instanceof Operand.Vector(List<Operand> from))
        || to.size() != count
        || from.size() != count) {
      throw new SyntaxException(
          move.line(), "mov.v%d takes two vectors of %d elements".formatted(count, count));
    }
    List<Operand> between = new ArrayList<>();
    for (Operand element : from) {
      between.add(Scope.make("%element", type, List.of(), registers));
      append(simpler(move, "mov", modifiers, List.of(between.getLast(), element)));
    }
    for (int i = 0; i < count; i++) {
      append(simpler(move, "mov", modifiers, List.of(to.get(i), between.get(i))));
    }
  }

  /** {@code vote} and {@code shfl} without {@code .sync}: among the lanes that are here. */
  private Instruction amongActive(Instruction instruction) throws SyntaxException {
    if (module.mayDiverge()) {
      throw new SyntaxException(
          instruction.line(),
          "'%s' without .sync is not supported on sm_70 and later from PTX ISA 6.4 on"
              .formatted(instruction.name()));
    }
    Operand mask = Scope.make("%active", ScalarType.B32, List.of(), registers);
    append(simpler(instruction, "activemask", List.of("b32"), List.of(mask)));
    List<String> modifiers = new ArrayList<>(List.of("sync"));
    modifiers.addAll(instruction.modifiers());
    List<Operand> operands = new ArrayList<>(instruction.operands());
    operands.add(mask);
    return simpler(instruction, instruction.name(), modifiers, operands);
  }

  private static Instruction simpler(
      Instruction of, String name, List<String> modifiers, List<Operand> operands) {
    return new Instruction(
        name, List.copyOf(modifiers), of.guard(), List.copyOf(operands), of.line(), of.source());
  }

  /** The registers that a function declares as parameters or results lie in its frame for calls. */
  private void storeResults(Instruction ret) {
    resultRegisters.forEach(
        (variable, register) ->
            append(simpler(ret, "st", inFrame(variable), List.of(address(variable), register))));
  }

  private static Operand address(Variable variable) {
    return new Operand.Address(new Operand.Symbol(variable, 0, false), 0);
  }

  /** Modifiers of an access to a parameter or result; a predicate takes a byte. */
  private static List<String> inFrame(Variable variable) {
    ScalarType type = variable.type() == ScalarType.PRED ? ScalarType.U8 : variable.type();
    int elements = elements(variable);
    return elements == 1
        ? List.of("param", type.ptx())
        : List.of("param", "v" + elements, type.ptx());
  }

  private static int elements(Variable variable) {
    return (int) (variable.bytes() / variable.type().bytes());
  }

  /** Declares registers in which a function gets parameters or leaves results. */
  private void registerParameters(
      List<Variable> parameters, List<Variable> results, Set<Variable> inRegisters, int line) {
    Instruction entry = new Instruction("ld", List.of(), null, List.of(), line, source);
    for (Variable variable : parameters) {
      if (inRegisters.contains(variable)) {
        Operand register = declare(variable);
        append(simpler(entry, "ld", inFrame(variable), List.of(register, address(variable))));
      }
    }
    for (Variable variable : results) {
      if (inRegisters.contains(variable)) {
        resultRegisters.put(variable, declare(variable));
      }
    }
  }

  private Operand declare(Variable variable) {
    int elements = elements(variable);
    List<String> parts = elements == 1 ? List.of() : Scope.ELEMENTS.subList(0, elements);
    Operand register = Scope.make(variable.name(), variable.type(), parts, registers);
    scope.declare(variable.name(), register);
    return register;
  }

  private @Nullable Operand find(String name) {
    Operand known = scope.find(name, registers);
    return known != null ? known : module.find(name);
  }

  /** Labels and functions may be named before they are there; now all labels are. */
  private void resolveLabels() {
    for (int i = 0; i < code.size(); i++) {
      Instruction instruction = code.get(i);
      Scope at = scopes.get(i);
      code.set(i, instruction.with(operand -> resolveLabel(operand, at, instruction.line())));
    }
    if (code.isEmpty() || !code.getLast().endsFlow()) {
      int line = code.isEmpty() ? 0 : code.getLast().line();
      Instruction ret = new Instruction("ret", List.of(), null, List.of(), line, source);
      storeResults(ret);
      code.add(ret);
    }
  }

  private Operand resolveLabel(Operand operand, Scope at, int line) {
    if (!(operand instanceof Operand.Name(String name))) {
      return operand;
    }
    Integer index = at.labelled(name);
    if (index != null) {
      return new Operand.Target(index);
    }
    if (branchTargets.containsKey(name)) {
      List<Integer> indices = new ArrayList<>();
      for (String target : Objects.requireNonNull(branchTargets.get(name))) {
        Integer place = at.labelled(target);
        if (place == null) {
          module.refuse(line, "there is no label '%s'".formatted(target), source);
        } else {
          indices.add(place);
        }
      }
      return new Operand.Targets(List.copyOf(indices));
    }
    Operand prototype = prototypes.get(name);
    return prototype != null ? prototype : operand;
  }

  /** Provides what a function body needs of the file around it. */
  interface ModuleContext {
    void refuse(int line, String reason, SourceLine source);

    @Nullable Operand find(String name);

    String file(int number);

    /** The text at a label of the {@code .debug_str} section, or nothing. */
    String debugText(String label, long offset);

    void variable(String space, boolean external) throws SyntaxException;

    /**
     * Returns true if lanes of a warp run by themselves, so that they have to say who takes part.
     */
    boolean mayDiverge();
  }
}
