"""Does a sequence model make infinite use of finite means?"""

__version__ = "0.1.0"
