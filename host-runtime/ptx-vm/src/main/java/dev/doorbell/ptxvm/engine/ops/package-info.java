/** The operation table: one row an opcode, found by its PTX name. */
@NullMarked
package dev.doorbell.ptxvm.engine.ops;

import org.jspecify.annotations.NullMarked;
