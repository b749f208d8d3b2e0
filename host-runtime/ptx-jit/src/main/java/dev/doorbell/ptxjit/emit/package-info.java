/** The bytecode of operations, wherever their registers are, and the classes that hold it. */
@NullMarked
package dev.doorbell.ptxjit.emit;

import org.jspecify.annotations.NullMarked;
