/** Layouts written by FormatsTest from src/main/formats/abi.txt: nobody edits them. */
@NullMarked
package dev.doorbell.core.queue.generated;

import org.jspecify.annotations.NullMarked;
