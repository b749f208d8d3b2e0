/** Layouts written by FormatsTest from src/main/formats/mlx5.txt: nobody edits them. */
@NullMarked
package dev.doorbell.core.mlx5.generated;

import org.jspecify.annotations.NullMarked;
