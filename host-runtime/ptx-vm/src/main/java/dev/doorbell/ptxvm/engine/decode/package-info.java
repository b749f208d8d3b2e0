/** Decodes opcodes: operands become slots of the register file. */
@NullMarked
package dev.doorbell.ptxvm.engine.decode;

import org.jspecify.annotations.NullMarked;
