/**
 * Execution of kernels. A PTX instruction passes these stages, from text to execution:
 *
 * <ol>
 *   <li>{@code launch.VmModule} loads a module: parses, links, refuses what cannot be run.
 *   <li>{@code parser.PtxParser} reads modules with {@code parser.Lexer}.
 *   <li>{@code parser.FunctionParser} reads a function's body, {@code parser.OperandParser}
 *       operands.
 *   <li>{@code ir.Instruction} is the instruction, decoded from text.
 *   <li>{@code engine.link.KernelLinker} lays out a kernel's memory and registers.
 *   <li>{@code engine.link.FunctionLinker} decodes each instruction into an operation and links
 *       them.
 *   <li>{@code engine.ops.OpTable} finds the opcode's row.
 *   <li>{@code engine.decode.Assembler} turns operands into slots of the register file.
 *   <li>{@code engine.ops.arithmetic}, {@code .memory} and {@code .control} hold the operations.
 *   <li>{@code engine.machine.VmThread} executes them in its step.
 * </ol>
 *
 * <p>Module {@code ptx-jit} replaces operations by compiled code; {@code machine.KernelCompiler} is
 * its way in.
 */
@NullMarked
package dev.doorbell.ptxvm.engine;

import org.jspecify.annotations.NullMarked;
