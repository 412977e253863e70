"""The figures that the paper prints, for orientation: its videos are others than yours."""

from __future__ import annotations

FIGURES = ("precision", "recall", "f1", "specificity")

# its Table 2: means over 14 classes at a threshold of 0.5, one run each
ABLATION = {
    "atten-conv": (0.229, 0.290, 0.246, 0.872),
    "atten-conv-lstm": (0.450, 0.461, 0.443, 0.939),
    "atten-lstm": (0.529, 0.478, 0.487, 0.954),
    "guided-lstm": (0.487, 0.482, 0.458, 0.946),
    "ps-devcem": (0.616, 0.546, 0.551, 0.951),
}

# its Table 3
COMPARISON = {
    "sil": (0.235, 0.046, 0.066, 0.997),
    "miss-svm": (0.130, 0.162, 0.123, 0.912),
    "attention-mil": (0.616, 0.471, 0.513, 0.955),
    "stpn": (0.592, 0.517, 0.536, 0.916),
    "w-talc": (0.274, 0.891, 0.416, 0.666),
    "ps-devcem-no-selfsup": (0.606, 0.540, 0.540, 0.951),
    "ps-devcem": (0.616, 0.546, 0.551, 0.951),
}
